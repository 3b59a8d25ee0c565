/**
 * Packs records into chunks, and collects the reports of all packing tasks into committables, on the task's thread.
 */
package dev.stoker.connectors.dataset.sink.writer;
