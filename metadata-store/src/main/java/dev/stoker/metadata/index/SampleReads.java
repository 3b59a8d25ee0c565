package dev.stoker.metadata.index;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.index.build.HeadRows;
import dev.stoker.metadata.index.run.DamagedRunException;
import dev.stoker.metadata.samples.CheckedPayload;
import dev.stoker.metadata.samples.HeadCache;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads samples of a version, chunk by chunk. Keeps the heads of the chunks used last. Thread-safe. */
final class SampleReads {

    private static final long HEAD_BYTES = 32L << 20;

    /** Values that are at most this far apart are read together. */
    private static final int GAP_BYTES = 64 << 10;

    /** Bytes that are read together at most, unless one value is longer. */
    private static final int READ_BYTES = 16 << 20;

    private final ObjectStore store;
    private final ChunkTable table;
    private final HeadCache heads = new HeadCache(HEAD_BYTES);

    SampleReads(ObjectStore store, ChunkTable table) {
        this.store = store;
        this.table = table;
    }

    /** A wanted value, and where it belongs. */
    private record Part(CheckedPayload value, ByteBuffer[] sample) {

        int position() {
            return value.position();
        }

        long end() {
            return value.position() + (long) value.length();
        }

        void set(ByteBuffer bytes) {
            sample[value.field()] = bytes;
        }
    }

    /**
     * Reads samples.
     *
     * @param found the row of each key, or null
     * @throws DamagedRunException if a run names another sample's row
     */
    List<Optional<StoredSample>> read(List<String> keys, List<IndexView.@Nullable Found> found) throws IOException {
        Map<Integer, List<Integer>> byChunk = new TreeMap<>();
        IndexedRow[] rows = new IndexedRow[keys.size()];
        List<Optional<StoredSample>> samples = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            samples.add(Optional.empty());
            IndexView.Found place = found.get(i);
            if (place != null) {
                rows[i] = place.place();
                byChunk.computeIfAbsent(rows[i].ordinal(), o -> new ArrayList<>())
                        .add(i);
            }
        }
        for (Map.Entry<Integer, List<Integer>> chunk : byChunk.entrySet()) {
            int index = table.indexOf(chunk.getKey());
            ChunkHead head = head(index);
            List<Part> parts = new ArrayList<>();
            for (int i : chunk.getValue()) {
                String key = keys.get(i);
                int row = rows[i].row();
                if (row >= head.rows() || !head.key(row).equals(key)) {
                    SampleRun run = Objects.requireNonNull(found.get(i).run(), "a checked place has the key");
                    throw new DamagedRunException(
                            run,
                            new CorruptDataException(run.name() + " is corrupt: it names row " + row
                                    + " of chunk " + chunk.getKey() + " for the key '" + key
                                    + "', which has another sample there"));
                }
                ByteBuffer[] payload = new ByteBuffer[head.fields().size()];
                addParts(index, head, row, payload, parts);
                SampleStat stat = new SampleStat(
                        key, table.split(index), chunk.getKey(), row, rows[i].length(), rows[i].crc32c());
                samples.set(i, Optional.of(new StoredSample(stat, head, payload)));
            }
            read(index, parts);
        }
        return samples;
    }

    /** Returns the row at a place that somebody has named for a key; null if the version has another sample there. */
    @Nullable
    IndexedRow row(String key, AddressHints.Place place) throws IOException {
        int index = table.indexOf(place.ordinal());
        if (index < 0 || place.row() < 0 || !table.isLive(index, place.row())) {
            return null;
        }
        try {
            ChunkHead head = storedHead(index);
            return head.key(place.row()).equals(key) ? new HeadRows().row(head, place.ordinal(), place.row()) : null;
        } catch (StokerException e) {
            // The index may have an answer without the chunk.
            return null;
        }
    }

    private void addParts(int index, ChunkHead head, int row, ByteBuffer[] payload, List<Part> parts) {
        List<Field> fields = head.fields();
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).payload()) {
                parts.add(new Part(value(index, head, f, row), payload));
            }
        }
    }

    private CheckedPayload value(int index, ChunkHead head, int field, int row) {
        return new CheckedPayload(head, field, row, "chunk " + table.ordinal(index));
    }

    /**
     * Reads and verifies the values of a payload field in some rows of a chunk.
     *
     * @return one value for each row
     * @throws dev.stoker.schemas.errors.CorruptDataException if a value is damaged
     */
    List<ByteBuffer> values(int index, int field, int[] rows) throws IOException {
        ChunkHead head = head(index);
        List<Part> parts = new ArrayList<>();
        List<ByteBuffer[]> values = new ArrayList<>();
        for (int row : rows) {
            ByteBuffer[] value = new ByteBuffer[head.fields().size()];
            values.add(value);
            parts.add(new Part(value(index, head, field, row), value));
        }
        read(index, parts);
        return values.stream().map(value -> value[field]).toList();
    }

    /** Returns the head of a chunk with the fields and values in its own file, as the index knows them. */
    ChunkHead storedHead(int index) throws IOException {
        boolean isStored = table.overlay(index) == null && table.added().isEmpty();
        return isStored ? head(index) : ChunkHeads.readStored(store, table, index);
    }

    /** Returns the head of a chunk with the values of the version. */
    ChunkHead head(int index) throws IOException {
        return heads.get(store, table, index);
    }

    private void read(int index, List<Part> parts) throws IOException {
        parts.sort((a, b) -> Integer.compare(a.position(), b.position()));
        String name = ChunkNames.path(table.id(index));
        int from = 0;
        while (from < parts.size()) {
            int begin = parts.get(from).position();
            long end = parts.get(from).end();
            int to = from + 1;
            while (to < parts.size()
                    && parts.get(to).position() - end <= GAP_BYTES
                    && parts.get(to).end() - begin <= READ_BYTES) {
                end = Math.max(end, parts.get(to).end());
                to++;
            }
            ByteBuffer bytes = ByteBuffer.allocate((int) (end - begin));
            if (bytes.hasRemaining()) {
                store.read(name, begin, bytes);
            }
            for (Part part : parts.subList(from, to)) {
                ByteBuffer value =
                        bytes.slice(part.position() - begin, part.value().length());
                if (!part.value().is(value)) {
                    part.value().read(value, (position, target) -> store.read(name, position, target), () -> {});
                }
                part.set(value);
            }
            from = to;
        }
    }
}
