package dev.stoker.formats.tar;

/**
 * A file in a tar archive.
 *
 * @param name its name, with directories
 * @param offset offset of its first header
 * @param size length of its content in bytes
 */
public record TarMember(String name, long offset, long size) {}
