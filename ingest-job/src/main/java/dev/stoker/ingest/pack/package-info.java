/**
 * The packing tasks of an ingest: sorted paths come in, chunks are written, reports go out.
 *
 * <p>A task's operator runs on its mailbox thread, which plans chunks in the order of the sort; each chunk is read and
 * written by one thread of the task's pool. Knows nothing of options or of the commit.
 */
package dev.stoker.ingest.pack;
