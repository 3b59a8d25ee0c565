package dev.stoker.metadata.audit;

import java.util.List;

/**
 * Describes the correct content of a piece.
 *
 * @param rows number of rows in its message
 * @param skipped number of rows that were left out
 * @param crc32c checksum of header and message
 * @param sourceCrc32c checksum of the message with all columns
 * @param left the samples that were left out
 */
record ExpectedPiece(int rows, int skipped, int crc32c, int sourceCrc32c, List<String> left) {}
