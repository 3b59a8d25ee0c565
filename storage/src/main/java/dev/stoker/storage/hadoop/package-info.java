/**
 * Object stores over Hadoop's FileSystem: HDFS, S3 and other file systems that Hadoop supports. Each store has a
 * separate file system, whose threads are Hadoop's (uploads, connections). Code outside this package must not refer to
 * classes of Hadoop or of a store's client library: the package is loaded, possibly by a separate class loader, with
 * the first remote store.
 */
package dev.stoker.storage.hadoop;
