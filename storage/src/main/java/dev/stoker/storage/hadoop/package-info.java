/**
 * Object stores over Hadoop's FileSystem: HDFS, S3 and whatever else Hadoop knows. One file system of its own per store; its
 * threads are Hadoop's (uploads, connections). Nothing outside this package may refer to a class of Hadoop or of a store's own
 * client library: the package is loaded, possibly by a class loader of its own, with the first remote store.
 */
package dev.stoker.storage.hadoop;
