/**
 * Measures whether the shuffle window of a feed mixes the classes of a dataset, and counts its classes and sizes. Reads
 * chunk heads on the caller's thread, or all heads with several threads; knows neither Flink nor feeds.
 */
package dev.stoker.metadata.mixing;
