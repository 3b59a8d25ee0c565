/**
 * The bounded source of a dataset's samples, laid out as Flink's own connectors: {@link
 * dev.stoker.connectors.dataset.source.StokerSource} with its builder, and packages for splits, enumerator and reader.
 */
package dev.stoker.connectors.dataset.source;
