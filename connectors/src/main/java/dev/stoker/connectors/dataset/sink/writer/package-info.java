/**
 * Collects the reports of all packing tasks into committables, on the task's thread. Writes no files.
 */
package dev.stoker.connectors.dataset.sink.writer;
