/**
 * Flink sources and sinks for chunks, and readers and writers of external formats.
 */
package dev.stoker.connectors;
