/**
 * The samples of a version as a tree of files: which field is the content, which path a key has, and what a directory
 * contains. Mounts, the Hadoop file system, exports and {@code stoker get} share it. Starts no threads.
 */
package dev.stoker.metadata.files;
