/**
 * The packing tasks of an ingest: they receive sorted paths, write chunks, and emit reports.
 *
 * <p>A task's operator runs on its mailbox thread, which plans chunks in the order of the sort. One thread of the
 * task's pool reads and writes each chunk. Independent of options and of the commit.
 */
package dev.stoker.ingest.pack;
