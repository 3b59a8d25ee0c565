package dev.stoker.metadata.index;

/**
 * What is known about a sample without reading it.
 *
 * @param key the key
 * @param split its split
 * @param ordinal ordinal of its chunk
 * @param row its row in the chunk
 * @param length bytes of the values of all fields
 * @param crc32c CRC-32C of the payload values, one after the other
 */
public record SampleStat(String key, String split, long ordinal, int row, int length, int crc32c) {}
