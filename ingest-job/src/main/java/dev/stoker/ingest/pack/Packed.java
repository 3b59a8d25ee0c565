package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;

/**
 * What has become of a planned chunk.
 *
 * @param chunks that were written; usually one, none if every file was left out, more if files have grown
 * @param classes per categorical field the class names they use
 * @param skipped what was left out
 * @param samples in the chunks
 * @param bytes of the samples' files
 */
record Packed(
        List<ChunkSummary> chunks,
        Map<String, SortedSet<String>> classes,
        SkipCounts skipped,
        long samples,
        long bytes) {}
