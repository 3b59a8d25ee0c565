/**
 * Reads samples of a version in an order, as Arrow record batches. For one thread of a task; knows neither Flink nor
 * the files of the formats.
 */
package dev.stoker.export.read;
