/**
 * Trees of files: what to list, in which order, and the bundles of paths that the source emits. Flink's sort of a few
 * bundles puts all files into the requested order. Values only; the source is in {@link
 * dev.stoker.connectors.files.source}. This package opens no samples and is independent of chunks.
 */
package dev.stoker.connectors.files;
