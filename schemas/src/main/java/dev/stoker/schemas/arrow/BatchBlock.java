package dev.stoker.schemas.arrow;

/**
 * Where a file's record batch message lies.
 *
 * @param offset of the message in the file
 * @param metadataLength bytes of prefix, flatbuffer and padding
 * @param bodyLength bytes of the body
 */
record BatchBlock(long offset, int metadataLength, long bodyLength) {}
