/**
 * Single samples in their chunks: heads in memory, and values that are verified. All readers by key share it: the
 * sample index, mounts, the Hadoop file system and lookups of a feeder. Starts no threads.
 */
package dev.stoker.metadata.samples;
