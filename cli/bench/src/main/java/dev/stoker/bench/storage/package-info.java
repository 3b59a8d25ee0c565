/**
 * Measures a store: reads of blocks in order and at random places, with several reads at a time, and metadata
 * operations. Each read at a time has a thread, which lives for one measurement. Knows no datasets but their chunks.
 */
package dev.stoker.bench.storage;
