/**
 * The read-only Hadoop file system {@code stoker://}: one version of a dataset as a tree of files, whose paths are the
 * keys of the samples. Starts no threads; all calls run in the threads of the program. Together with {@code
 * dev.stoker.storage.hadoop}, this is the only package that knows Hadoop, and it only uses classes of Hadoop 3.3.2.
 */
package dev.stoker.hadoop;
