package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.failure.Patience;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.read.SampleFields;
import dev.stoker.ingest.pack.sync.Packed;
import dev.stoker.ingest.pack.sync.StoredRow;
import dev.stoker.metadata.chunks.ChunkOutput;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the files of planned chunks and writes the chunks. For one thread at a time; reuses its memory.
 */
final class ChunkPacker {

    /** No chunk may reach 2^31; this leaves room for its head. */
    private static final long MAX_CHUNK_BYTES = (1L << 31) - (64L << 20);

    private final PackPlan plan;
    private final Patience patience;
    private final ChunkOutput output;
    private final DatasetInfo info;
    private final SampleFields fields;
    private ChunkBuilder builder;

    private List<ChunkSummary> chunks = new ArrayList<>();
    private UsedClasses used = new UsedClasses();
    private SkipCounts skipped = new SkipCounts();
    private List<StoredRow> replaced = new ArrayList<>();
    private long samples;
    private long bytes;

    ChunkPacker(PackPlan plan, DatasetInfo info, ObjectStore store, SampleFields fields, Patience patience) {
        this.plan = plan;
        this.patience = patience;
        this.output = new ChunkOutput(
                        store, info.id(), plan.ingest(), (what, attempt) -> patience.run(what, attempt::run))
                .createdAt(Instant.ofEpochMilli(plan.startedMs()));
        this.info = info;
        this.fields = fields;
        builder = newBuilder();
    }

    private ChunkBuilder newBuilder() {
        return new ChunkBuilder(info.fields(), plan.chunkSizeBytes());
    }

    /** Reads and writes one planned chunk. The returned chunk is durable. */
    Packed pack(PlannedChunk planned) throws IOException, InterruptedException {
        chunks = new ArrayList<>();
        used = new UsedClasses();
        skipped = new SkipCounts();
        replaced = new ArrayList<>();
        samples = 0;
        bytes = 0;
        fields.into(builder, skipped);
        fields.begin(planned.files());
        try {
            for (int i = 0; i < planned.files().size(); i++) {
                boolean isPacked = add(planned.files().get(i), planned.split());
                StoredRow stored = planned.replaced(i);
                // The sample of a file that was left out stays.
                if (isPacked && stored != null) {
                    replaced.add(stored);
                }
            }
        } finally {
            fields.end();
        }
        write(planned.split());
        if (planned.length() > 2L * plan.chunkSizeBytes()) {
            // The memory of an oversized chunk is not kept for ordinary chunks.
            builder = newBuilder();
        }
        return new Packed(chunks, used, skipped, replaced, samples, bytes);
    }

    /** Returns whether the file is a sample of a chunk. */
    private boolean add(FileEntry file, String split) throws IOException, InterruptedException {
        if (fields.isTooLarge(file)) {
            return false;
        }
        if (builder.lengthWith(file.size()) > MAX_CHUNK_BYTES) {
            write(split);
        }
        if (patience.call("Reading the source", () -> fields.set(file))) {
            builder.endRow();
            samples++;
            bytes += fields.contentBytes();
            return true;
        }
        return false;
    }

    private void write(String split) throws IOException, InterruptedException {
        if (builder.rows() == 0) {
            builder.reset();
            return;
        }
        PackedChunk chunk = output.write(builder, split);
        chunks.add(chunk.summary());
        used.add(chunk);
        builder.reset();
    }
}
