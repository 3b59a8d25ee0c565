/**
 * Compares two versions of a dataset. Reads the heads of the chunks that differ, in parallel, and no payload. Must not
 * depend on the other packages below the dataset.
 */
package dev.stoker.metadata.diff;
