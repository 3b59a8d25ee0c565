/**
 * Flink sources and sinks for chunks; readers and writers of outside formats.
 */
package dev.stoker.connectors;
