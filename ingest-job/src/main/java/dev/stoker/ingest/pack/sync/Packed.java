package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * The result of packing a planned chunk.
 *
 * @param chunks that were written; usually one, none if every file was left out, more if files have grown
 * @param classes the class names that they use, by categorical field
 * @param missing number of their rows without a class, by categorical field
 * @param skipped files that were left out
 * @param replaced samples of the dataset that samples in these chunks replace
 * @param samples in the chunks
 * @param bytes of the samples' files
 */
public record Packed(
        List<ChunkSummary> chunks,
        Map<String, SortedSet<String>> classes,
        Map<String, Long> missing,
        SkipCounts skipped,
        List<StoredRow> replaced,
        long samples,
        long bytes) {}
