package dev.stoker.metadata.removal;

/**
 * Describes what a change does to a split of a version.
 *
 * @param split its name
 * @param changed number of samples that are removed or get new values
 * @param samples number of samples of the version
 * @param chunks number of chunks with such samples
 */
public record SplitChange(String split, long changed, long samples, int chunks) {}
