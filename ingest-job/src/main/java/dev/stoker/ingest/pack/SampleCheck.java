package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.failure.Patience;
import dev.stoker.metadata.diff.SampleDigest;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Compares files with stored samples by making the sample of each file, as packing does. For one thread at a time;
 * reuses its memory.
 */
final class SampleCheck {

    private static final UUID NO_ID = new UUID(0, 0);

    private final PackPlan plan;
    private final DatasetInfo info;
    private final SampleFields fields;
    private final Patience patience;
    private final SampleDigest digest = new SampleDigest();
    private ChunkBuilder builder;

    /**
     * A file and its sample.
     *
     * @param file as listed
     * @param stored the sample
     */
    record Pair(FileEntry file, StoredState stored) {}

    /**
     * The result for some files.
     *
     * @param changed whether each file differs from its sample
     * @param skipped files that could not be read; they count as unchanged
     */
    record Checked(List<Boolean> changed, SkipCounts skipped) {}

    SampleCheck(PackPlan plan, DatasetInfo info, SampleFields fields, Patience patience) {
        this.plan = plan;
        this.info = info;
        this.fields = fields;
        this.patience = patience;
        builder = newBuilder();
    }

    private ChunkBuilder newBuilder() {
        return new ChunkBuilder(info.fields(), plan.chunkSizeBytes());
    }

    /** Reads the files and compares them. */
    Checked check(List<Pair> pairs) throws IOException, InterruptedException {
        SkipCounts skipped = new SkipCounts();
        List<Boolean> changed = new ArrayList<>();
        fields.into(builder, skipped);
        fields.begin(pairs.stream().map(Pair::file).toList());
        try {
            for (Pair pair : pairs) {
                changed.add(isChanged(pair));
            }
        } finally {
            fields.end();
        }
        return new Checked(changed, skipped);
    }

    private boolean isChanged(Pair pair) throws IOException, InterruptedException {
        if (!patience.call("Reading the source", () -> fields.set(pair.file()))) {
            return false;
        }
        builder.endRow();
        PackedChunk chunk = builder.finish(new ChunkIdentity(info.id(), NO_ID, plan.ingest(), "check", Instant.EPOCH));
        ByteBuffer head = ByteBuffer.allocate(Math.toIntExact(chunk.summary().headLength()));
        for (ByteBuffer part : chunk.buffers()) {
            ByteBuffer rest = part.duplicate();
            head.put(rest.limit(rest.position() + Math.min(rest.remaining(), head.remaining())));
        }
        SampleDigest.Content content = digest.of(
                ChunkHead.parse(
                        head.flip(), chunk.summary().length(), pair.file().path()),
                0);
        builder.reset();
        if (pair.file().size() > plan.chunkSizeBytes()) {
            // The memory of an oversized sample is not kept for ordinary ones.
            builder = newBuilder();
            fields.into(builder, new SkipCounts());
        }
        return !content.equals(pair.stored().content());
    }
}
