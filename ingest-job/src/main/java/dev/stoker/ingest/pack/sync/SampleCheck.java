package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.failure.Patience;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.read.SampleFields;
import dev.stoker.metadata.diff.SampleDigest;
import dev.stoker.schemas.arrow.types.Field;
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
public final class SampleCheck {

    private static final UUID NO_ID = new UUID(0, 0);

    private final PackPlan plan;
    private final DatasetInfo info;
    private final SampleFields fields;
    private final Patience patience;
    private final SampleDigest digest = new SampleDigest();
    private final int content;
    private ChunkBuilder builder;

    /**
     * A file and its sample.
     *
     * @param file as listed
     * @param stored the sample
     */
    public record Pair(FileEntry file, StoredState stored) {}

    /**
     * The result for some files.
     *
     * @param differences how each file differs from its sample
     * @param skipped files that could not be read; they do not differ
     */
    public record Checked(List<Difference> differences, SkipCounts skipped) {}

    /** How a file differs from its sample. */
    enum Difference {
        NONE,
        /** Only in its content. */
        CONTENT,
        /** In other fields. */
        VALUES
    }

    public SampleCheck(PackPlan plan, DatasetInfo info, SampleFields fields, Patience patience) {
        this.plan = plan;
        this.info = info;
        this.fields = fields;
        this.patience = patience;
        this.content = info.fields().stream().map(Field::name).toList().indexOf(plan.content());
        builder = newBuilder();
    }

    private ChunkBuilder newBuilder() {
        return new ChunkBuilder(info.fields(), plan.chunkSizeBytes());
    }

    /** Reads the files and compares them. */
    public Checked check(List<Pair> pairs) throws IOException, InterruptedException {
        SkipCounts skipped = new SkipCounts();
        List<Difference> differences = new ArrayList<>();
        fields.into(builder, skipped);
        fields.begin(pairs.stream().map(Pair::file).toList());
        try {
            for (Pair pair : pairs) {
                differences.add(compare(pair));
            }
        } finally {
            fields.end();
        }
        return new Checked(differences, skipped);
    }

    private Difference compare(Pair pair) throws IOException, InterruptedException {
        if (!patience.call("Reading the source", () -> fields.set(pair.file()))) {
            return Difference.NONE;
        }
        builder.endRow();
        PackedChunk chunk = builder.finish(new ChunkIdentity(info.id(), NO_ID, plan.ingest(), "check", Instant.EPOCH));
        ByteBuffer head = ByteBuffer.allocate(Math.toIntExact(chunk.summary().headLength()));
        for (ByteBuffer part : chunk.buffers()) {
            ByteBuffer rest = part.duplicate();
            head.put(rest.limit(rest.position() + Math.min(rest.remaining(), head.remaining())));
        }
        ChunkHead parsed = ChunkHead.parse(
                head.flip(), chunk.summary().length(), pair.file().path());
        boolean isSameContent =
                digest.of(parsed, 0, content).equals(pair.stored().content());
        boolean isSameValues =
                digest.without(parsed, 0, content).equals(pair.stored().values());
        builder.reset();
        if (pair.file().size() > plan.chunkSizeBytes()) {
            // The memory of an oversized sample is not kept for ordinary ones.
            builder = newBuilder();
            fields.into(builder, new SkipCounts());
        }
        return !isSameValues ? Difference.VALUES : isSameContent ? Difference.NONE : Difference.CONTENT;
    }
}
