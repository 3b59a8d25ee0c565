/**
 * Copies a dataset to another store, incrementally and beside writers. The target has the same log and the same chunks;
 * a version appears there after its chunks. Uses its own threads for chunks. Knows neither the command nor
 * Flink.
 */
package dev.stoker.metadata.copy;
