/** Finds the chunks of a version and assigns them to readers. Runs on Flink's coordinator threads. */
package dev.stoker.connectors.dataset.source.enumerator;
