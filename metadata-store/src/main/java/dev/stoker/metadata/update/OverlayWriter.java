package dev.stoker.metadata.update;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ChunkOutput;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Writes overlays, one after the other. For one thread. */
final class OverlayWriter {

    /** Overlays have no payload. */
    private static final int NO_SEGMENTS = 4096;

    private final ObjectStore store;
    private final NewValues values;
    private final String ingest;
    private final Instant began;
    private final Map<List<Field>, ChunkBuilder> builders = new HashMap<>();

    /**
     * @param ingest the id under whose lease the overlays are written
     * @param began when the update began
     */
    OverlayWriter(ObjectStore store, NewValues values, String ingest, Instant began) {
        this.store = store;
        this.values = values;
        this.ingest = ingest;
        this.began = began;
    }

    /**
     * An overlay whose file is durable.
     *
     * @param largestRow upper bound of the bytes of a row of its chunk
     * @param classes class names that it uses, by categorical field
     */
    record Written(ChunkOverlay overlay, long largestRow, Map<String, List<String>> classes) {}

    /**
     * Writes the new overlay of a chunk. It has the fields with new values and those of the overlay before, with the
     * values of all rows, also of removed ones.
     *
     * @param chunk has all fields with new values
     * @param written gets the id before the file is written
     */
    Written write(ChunkSummary chunk, Set<UUID> written) throws IOException {
        ChunkHead base = ChunkHeads.read(store, chunk);
        List<Field> fields = fields(chunk, base);
        ChunkBuilder builder = builders.computeIfAbsent(fields, f -> new ChunkBuilder(f, NO_SEGMENTS));
        builder.reset();
        int[] own = fields.stream().mapToInt(base.fields()::indexOf).toArray();
        int[] updated = fields.stream().mapToInt(values.fields()::indexOf).toArray();
        for (int row = 0; row < base.rows(); row++) {
            NewValues.Place place = values.of(base.key(row));
            builder.beginRow(base.key(row));
            for (int f = 0; f < own.length; f++) {
                if (place != null && updated[f] >= 0) {
                    builder.setFrom(f, place.values(), updated[f], place.row());
                } else {
                    builder.setFrom(f, base, own[f], row);
                }
            }
            builder.endRow();
        }
        PackedChunk packed = new ChunkOutput(store, base.identity().dataset(), ingest, began, written::add)
                .writeOverlay(builder, chunk.split(), chunk.id());
        ChunkOverlay overlay = new ChunkOverlay(
                packed.summary().id(),
                packed.summary().length(),
                packed.summary().crc32c());
        return new Written(overlay, largestRow(chunk, overlay), packed.classes());
    }

    private List<Field> fields(ChunkSummary chunk, ChunkHead base) throws IOException {
        Set<Field> wanted = new LinkedHashSet<>(values.fields());
        ChunkOverlay before = chunk.overlay();
        if (before != null) {
            wanted.addAll(OverlayReader.read(
                            new ObjectRangeReader(store, ChunkNames.overlayPath(before.id())), before, base.identity())
                    .fields());
        }
        return base.fields().stream().filter(wanted::contains).toList();
    }

    /** Reads what was written, so that no damaged overlay is committed. */
    private long largestRow(ChunkSummary chunk, ChunkOverlay overlay) throws IOException {
        ChunkHead head = ChunkHeads.read(store, chunk.with(overlay));
        long largest = 0;
        for (int row = 0; row < head.rows(); row++) {
            largest = Math.max(largest, head.rowBytes(row));
        }
        return largest;
    }
}
