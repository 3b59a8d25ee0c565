/**
 * Builds runs of the sample index from chunk heads, with bounded memory: collects, sorts, spills and merges rows.
 */
package dev.stoker.metadata.index.build;
