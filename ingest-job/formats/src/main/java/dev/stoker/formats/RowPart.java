package dev.stoker.formats;

/**
 * A part of a file that can be read alone: a row group, a block, a range of lines, or the whole file.
 *
 * @param number number of the part in the file
 * @param offset first byte of the part in the file
 * @param bytes length of the part in the file
 * @param rows number of rows, or -1 if only reading tells
 * @param memoryBytes memory that reading all columns takes at most; 0 if it is small
 */
public record RowPart(int number, long offset, long bytes, long rows, long memoryBytes) {}
