/**
 * Sorted runs of the sample index as files, and the order of keys in them.
 */
package dev.stoker.metadata.index.run;
