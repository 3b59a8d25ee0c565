/**
 * Packs rows into chunks, in the order of the source or by the hashes of their keys.
 */
package dev.stoker.ingest.rows.pack;
