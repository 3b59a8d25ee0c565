package dev.stoker.metadata.gc;

import java.time.Duration;

/**
 * Describes a file that belongs to no version: its ingest died, or has not committed yet.
 *
 * @param name name relative to the dataset
 * @param length length in bytes
 * @param age time since it was written, by the store's clock
 * @param unfinished whether its writer had not finished it
 */
public record Orphan(String name, long length, Duration age, boolean unfinished) {}
