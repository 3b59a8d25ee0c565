/**
 * Rebuilds the log, the chunk table and the sample index of a dataset from the heads of its chunks. Reads chunks with
 * several threads. Uses the index; nothing else may depend on this package.
 */
package dev.stoker.metadata.rebuild;
