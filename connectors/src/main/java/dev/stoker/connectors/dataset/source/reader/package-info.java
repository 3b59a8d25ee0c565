/**
 * Reads chunks of assigned splits. A fetcher thread of each reader reads and verifies one chunk after the other; the
 * task's thread makes records of them.
 */
package dev.stoker.connectors.dataset.source.reader;
