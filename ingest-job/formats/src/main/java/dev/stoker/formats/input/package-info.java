/**
 * Bytes of a file in their order, decompressed if the file is compressed. A reader takes values with a declared length
 * from here, so that memory grows with the bytes that exist and not with the declared length.
 */
package dev.stoker.formats.input;
