package dev.stoker.metadata.audit;

import java.util.List;

/**
 * What a piece must have been.
 *
 * @param rows rows in its message
 * @param skipped rows left out
 * @param crc32c of header and message
 * @param left the samples that were left out
 */
record ExpectedPiece(int rows, int skipped, int crc32c, List<String> left) {}
