/**
 * Sorts keys, and refuses those that cannot be.
 */
package dev.stoker.ingest.pack.keys;
