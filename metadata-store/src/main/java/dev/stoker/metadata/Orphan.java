package dev.stoker.metadata;

import java.time.Duration;

/**
 * A file that belongs to no version: of an ingest that died, or that has not committed yet.
 *
 * @param name relative to the dataset
 * @param length in bytes
 * @param age since it was written, by the store's clock
 * @param unfinished whether its writer had not finished it
 */
public record Orphan(String name, long length, Duration age, boolean unfinished) {}
