package dev.stoker.mount.tree;

/**
 * An entry of a directory.
 *
 * @param name the file name
 * @param isDirectory whether it is a directory, otherwise a file
 */
public record Listed(String name, boolean isDirectory) {}
