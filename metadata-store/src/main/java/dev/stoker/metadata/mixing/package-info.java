/**
 * Measures whether the shuffle window of a feed mixes the classes of a dataset. Reads chunk heads on the caller's
 * thread; knows neither Flink nor feeds.
 */
package dev.stoker.metadata.mixing;
