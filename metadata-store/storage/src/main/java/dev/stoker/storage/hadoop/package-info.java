/**
 * Object stores over Hadoop's FileSystem: HDFS, S3 and every other file system that Hadoop supports.
 *
 * <p>Each store has its own file system, whose threads are Hadoop's (uploads, connections). No code outside this
 * package may refer to a class of Hadoop or of a store's client library: Stoker loads this package with the first
 * remote store, possibly with a separate class loader.
 */
package dev.stoker.storage.hadoop;
