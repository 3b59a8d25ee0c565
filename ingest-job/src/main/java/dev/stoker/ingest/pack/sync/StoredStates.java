package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.diff.SampleDigest;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.order.KeyHash;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Describes the samples of a version for a sync. For one thread. */
final class StoredStates {

    /**
     * Times of files and the time of an ingest come from different clocks and are rounded. A file that changed shortly
     * before the ingest began is read.
     */
    private static final long MARGIN_MS = 2000;

    /** A field that was added after the first version. */
    private static final int ADDED = -1;
    /** A field that no overlay has. */
    private static final int SAME = -2;

    private final PackPlan plan;
    private final Dataset dataset;
    private final long version;
    private final int content;
    private final int label;
    private final List<Integer> sidecars;
    private final SampleDigest digest = new SampleDigest();
    /** Whether a version packed the files of the plan's source. */
    private final Map<Long, Boolean> ofSource = new HashMap<>();
    /** Whether a version is a compaction after an update. */
    private final Map<Long, Boolean> mergesUpdates = new HashMap<>();

    private final List<Field> fields;
    /** The head of the last row, and its fields that the sync packs. */
    private @Nullable Packed last;

    private static final class Packed {
        private final ChunkHead head;
        private final ChunkHead fields;
        private int @Nullable [] own;

        Packed(ChunkHead head, ChunkHead fields) {
            this.head = head;
            this.fields = fields;
        }
    }

    StoredStates(PackPlan plan, Dataset dataset, long version) throws IOException {
        this.plan = plan;
        this.dataset = dataset;
        this.version = version;
        fields = plan.info().fields();
        List<String> names = fields.stream().map(Field::name).toList();
        content = names.indexOf(plan.content());
        label = plan.labelled().map(l -> names.indexOf(l.field())).orElse(-1);
        sidecars = plan.sidecarList().stream()
                .map(sidecar -> names.indexOf(sidecar.field()))
                .toList();
    }

    /**
     * Describes a sample.
     *
     * @param head with the values that its chunk has
     * @param current with the values that the version has
     * @param addedIn the version that has added the chunk
     */
    StoredState of(ChunkHead head, ChunkHead current, long addedIn, StoredRow place) throws IOException {
        int row = place.row();
        ChunkHead packed = packed(head);
        return new StoredState(
                place,
                length(packed, row),
                before(packed, addedIn),
                labelHash(packed, row),
                sidecars(packed, row),
                digest.of(packed, row, content),
                digest.without(packed, row, content),
                origin(head, current, addedIn, row));
    }

    private StoredState.Origin origin(ChunkHead head, ChunkHead current, long addedIn, int row) throws IOException {
        int[] own = ownFields(current);
        for (int f = 0; f < own.length; f++) {
            // No file gives the value of an added field.
            boolean isUpdated = own[f] == ADDED
                    ? !current.column(f).isNull(row)
                    : own[f] != SAME && !digest.of(head, row, own[f]).equals(digest.of(current, row, f));
            if (isUpdated) {
                return StoredState.Origin.UPDATED;
            }
        }
        return mergesUpdates(addedIn) ? StoredState.Origin.MERGED : StoredState.Origin.PACKED;
    }

    /** Returns where the chunk of the last row has each field of a version: its index, ADDED or SAME. */
    @SuppressWarnings("ReferenceEquality") // A chunk without overlay and added fields is its own version.
    private int[] ownFields(ChunkHead current) {
        Packed packed = Objects.requireNonNull(last, "packed() was called");
        if (packed.own == null) {
            List<String> names = packed.head.fields().stream().map(Field::name).toList();
            packed.own = current.fields().stream()
                    .mapToInt(field -> !fields.contains(field)
                            ? ADDED
                            : packed.head == current || field.payload() ? SAME : names.indexOf(field.name()))
                    .toArray();
        }
        return packed.own;
    }

    private boolean mergesUpdates(long addedIn) throws IOException {
        Boolean known = mergesUpdates.get(addedIn);
        if (known == null) {
            known = dataset.entry(addedIn, version).operation() == Operation.COMPACT && isUpdatedBefore(addedIn);
            mergesUpdates.put(addedIn, known);
        }
        return known;
    }

    private boolean isUpdatedBefore(long end) throws IOException {
        for (long before = end - 1; before > 0; before--) {
            if (dataset.entry(before, version).operation() == Operation.UPDATE) {
                return true;
            }
        }
        return false;
    }

    /** Returns the fields that the sync packs. The chunk may have others, which were added later. */
    @SuppressWarnings("ReferenceEquality") // The rows of a chunk come one after the other.
    private ChunkHead packed(ChunkHead head) {
        Packed known = last;
        if (known == null || known.head != head) {
            known = new Packed(head, head.select(fields));
            last = known;
        }
        return known.fields;
    }

    private long length(ChunkHead head, int row) {
        return head.fields().get(content).payload()
                ? head.payloadLength(content, row)
                : head.column(content).valueLength(row);
    }

    /**
     * A chunk has the time when its ingest began. It says something about the files only if the ingest packed files of
     * the same source; a compaction has another time than the samples.
     */
    private long before(ChunkHead head, long addedIn) throws IOException {
        Boolean isOfSource = ofSource.get(addedIn);
        if (isOfSource == null) {
            LogEntry entry = dataset.entry(addedIn, version);
            isOfSource = plan.tree().root().equals(entry.properties().get(IngestRun.SOURCE));
            ofSource.put(addedIn, isOfSource);
        }
        return isOfSource ? head.identity().created().toEpochMilli() - MARGIN_MS : StoredState.ALWAYS;
    }

    private long labelHash(ChunkHead head, int row) {
        if (label < 0) {
            return 0;
        }
        ArrowColumn column = head.column(label);
        return column.isNull(row) ? 0 : labelHash(head.classes(label).get(column.intAt(row)));
    }

    static long labelHash(String name) {
        return KeyHash.hash(0, name.getBytes(StandardCharsets.UTF_8));
    }

    private long sidecars(ChunkHead head, int row) {
        long bits = 0;
        for (int i = 0; i < sidecars.size(); i++) {
            if (!head.column(sidecars.get(i)).isNull(row)) {
                bits |= 1L << i;
            }
        }
        return bits;
    }
}
