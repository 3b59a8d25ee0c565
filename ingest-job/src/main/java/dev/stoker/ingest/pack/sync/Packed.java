package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;

/**
 * The result of packing a planned chunk.
 *
 * @param chunks that were written; usually one, none if every file was left out, more if files have grown
 * @param classes the classes that they use
 * @param skipped files that were left out
 * @param replaced samples of the dataset that samples in these chunks replace
 * @param samples in the chunks
 * @param bytes of the samples' files
 */
public record Packed(
        List<ChunkSummary> chunks,
        UsedClasses classes,
        SkipCounts skipped,
        List<StoredRow> replaced,
        long samples,
        long bytes) {}
