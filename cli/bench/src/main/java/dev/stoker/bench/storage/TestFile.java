package dev.stoker.bench.storage;

/**
 * An object that the measurement reads.
 *
 * @param name in the store
 * @param length in bytes
 */
public record TestFile(String name, long length) {}
