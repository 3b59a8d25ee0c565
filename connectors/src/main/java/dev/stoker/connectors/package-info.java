/**
 * Public connectors for Flink: trees of files, datasets, Kafka topics. Each has the packages {@code source} and {@code
 * sink}, with an entry class that builds the source or sink, and below them {@code enumerator}, {@code split}, {@code
 * reader}, {@code writer} and {@code committer}. Only the package of an entry class knows all others.
 */
package dev.stoker.connectors;
