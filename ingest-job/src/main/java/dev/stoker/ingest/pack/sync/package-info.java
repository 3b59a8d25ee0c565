/**
 * Compares source files with the samples that a dataset has, for {@code stoker sync}.
 */
package dev.stoker.ingest.pack.sync;
