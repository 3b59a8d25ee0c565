package dev.stoker.metadata.update;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.CommitUnknownException;
import dev.stoker.metadata.commit.Update;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.removal.SplitChange;
import dev.stoker.metadata.removal.UnknownKeyException;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Gives samples other values of small fields, by key. Reads the keys of all live chunks, each of them once, even if the
 * commit is retried on several versions: a version that commits meanwhile costs only its own chunks, and its samples
 * get the values as well. A field that the dataset does not have yet is added. Used by one thread; reads and writes
 * with several.
 */
public final class SampleUpdate {

    /** The property of a version with the number of samples that got other values. */
    public static final String SAMPLES = "updated.samples";

    private final Dataset dataset;
    private final NewValues values;
    private final SampleRule.MissingKeys missing;
    private final int threads;
    private final IntConsumer progress;
    /** By chunk, with the overlay on which the values depend. */
    private final Map<ChunkSummary, ChunkUpdates> found = new ConcurrentHashMap<>();

    private final Map<ChunkSummary, OverlayWriter.Written> overlays = new ConcurrentHashMap<>();
    private final Set<UUID> written = ConcurrentHashMap.newKeySet();

    /**
     * @param missing what to do if no sample has a given key
     * @param threads number of chunks to read at a time
     * @param progress receives 1 for each chunk that was read, from any thread
     */
    public SampleUpdate(
            Dataset dataset, NewValues values, SampleRule.MissingKeys missing, int threads, IntConsumer progress) {
        this.dataset = dataset;
        this.values = values;
        this.missing = missing;
        this.threads = threads;
        this.progress = progress;
    }

    /** The live rows of a version for which there are new values, by the index of their chunk, in their order. */
    private record Selected(Map<Integer, int[]> rows, BitSet seen, long same) {}

    /**
     * Returns what a commit on this version would update.
     *
     * @throws UnknownKeyException if the version lacks one of the samples
     * @throws StokerException if the version has a field of the name of an added one, with another type
     */
    public UpdatePlan plan(Snapshot base) throws IOException {
        Selected selected = select(base);
        Map<String, long[]> bySplit = new LinkedHashMap<>();
        selected.rows.forEach((index, rows) -> {
            long[] counts = bySplit.computeIfAbsent(base.table().split(index), split -> new long[2]);
            counts[0] += rows.length;
            counts[1]++;
        });
        List<SplitChange> splits = new ArrayList<>();
        for (Map.Entry<String, long[]> split : bySplit.entrySet()) {
            splits.add(new SplitChange(
                    split.getKey(),
                    split.getValue()[0],
                    base.stream(split.getKey()).liveRows(),
                    (int) split.getValue()[1]));
        }
        return new UpdatePlan(
                base.version(),
                splits,
                firstKeys(base.table(), selected.rows),
                missingIn(base).fields().stream().map(Field::name).toList(),
                selected.same,
                values.size() - selected.seen.cardinality());
    }

    /**
     * Commits a version with the new values, once per id even after retries.
     *
     * @param ingest the id
     * @param committedBy user and host, for people
     * @throws UnknownKeyException if the version lacks one of the samples
     * @throws StokerException if the version has a field of the name of an added one, with another type
     * @throws NothingToUpdateException if all samples have the values already
     * @throws CommitUnknownException if the store cannot tell whether the commit succeeded
     */
    public Commit commit(String ingest, InstantSource clock, String committedBy) throws IOException {
        Leases leases = new Leases(dataset);
        leases.take(ingest, clock, committedBy, WriterProcess.current());
        Instant began = clock.instant();
        boolean isKnown = false;
        Set<UUID> committed = Set.of();
        try {
            Commit commit = new VersionCommitter(dataset, clock, committedBy)
                    .commit(VersionRequest.update(ingest, base -> changes(base, ingest, began), this::properties));
            committed = new TreeSet<>(commit.entry().updated().stream()
                    .map(chunk -> chunk.overlay().id())
                    .toList());
            isKnown = true;
            return commit;
        } catch (IOException e) {
            isKnown = !(e instanceof CommitUnknownException);
            throw e;
        } finally {
            if (isKnown) {
                delete(committed);
                leases.release(ingest);
            }
        }
    }

    /** Deletes overlays that only an attempt on an older version needed. */
    private void delete(Set<UUID> committed) throws IOException {
        for (UUID id : written) {
            if (!committed.contains(id)) {
                dataset.store().delete(ChunkNames.overlayPath(id));
            }
        }
    }

    /** Returns the fields with new values that a version does not have. */
    private AddedFields missingIn(Snapshot base) throws StokerException {
        List<Field> missingFields = new ArrayList<>();
        for (Field field : values.added().fields()) {
            Optional<Field> own = base.info().field(field.name());
            if (own.isEmpty()) {
                missingFields.add(field);
            } else if (!own.get().equals(field)) {
                throw new StokerException("version " + base.version() + " of dataset "
                        + base.info().name() + " has a field " + field.name() + " of type "
                        + own.get().type().canonical() + "; it cannot be added with the type "
                        + field.type().canonical() + "; nothing was committed");
            }
        }
        return AddedFields.of(missingFields);
    }

    /** Returns the chunks of a version, by index, with all fields that have new values. */
    private IntFunction<ChunkSummary> chunks(Snapshot base) throws StokerException {
        AddedFields all = base.table().added().with(missingIn(base));
        return index -> base.table().summary(index).with(all);
    }

    private Update.Changes changes(Snapshot base, String ingest, Instant began) throws IOException {
        ChunkTable table = base.table();
        IntFunction<ChunkSummary> summary = chunks(base);
        int[] chunks =
                select(base).rows.keySet().stream().mapToInt(Integer::intValue).toArray();
        if (chunks.length == 0) {
            throw new NothingToUpdateException(base.info().name(), base.version());
        }
        int[] unwritten = IntStream.of(chunks)
                .filter(i -> !overlays.containsKey(summary.apply(i)))
                .toArray();
        ParallelChunks.forEach(unwritten, threads, () -> {
            OverlayWriter writer = new OverlayWriter(dataset.store(), values, ingest, began);
            return index -> overlays.put(summary.apply(index), writer.write(summary.apply(index), written));
        });
        List<UpdatedChunk> updated = new ArrayList<>();
        Map<String, List<String>> classes = new TreeMap<>();
        for (int index : chunks) {
            OverlayWriter.Written overlay =
                    Objects.requireNonNull(overlays.get(summary.apply(index)), "each overlay was written");
            updated.add(new UpdatedChunk(table.ordinal(index), overlay.overlay(), overlay.largestRow()));
            overlay.classes()
                    .forEach((field, names) -> classes.computeIfAbsent(field, f -> new ArrayList<>())
                            .addAll(names));
        }
        return new Update.Changes(updated, classes, missingIn(base));
    }

    private Map<String, String> properties(Snapshot base) throws IOException {
        long samples = select(base).rows.values().stream()
                .mapToLong(rows -> rows.length)
                .sum();
        return Map.of(SAMPLES, Long.toString(samples));
    }

    private Selected select(Snapshot base) throws IOException {
        ChunkTable table = base.table();
        IntFunction<ChunkSummary> summary = chunks(base);
        int[] live = IntStream.range(0, table.size()).filter(table::isLive).toArray();
        int[] unread = IntStream.of(live)
                .filter(i -> !found.containsKey(summary.apply(i)))
                .toArray();
        ParallelChunks.forEach(unread, threads, () -> {
            ChunkUpdates.Search search = new ChunkUpdates.Search(dataset.store(), values);
            return index -> {
                found.put(summary.apply(index), search.of(summary.apply(index)));
                progress.accept(1);
            };
        });
        Selected selected = new Selected(new LinkedHashMap<>(), new BitSet(), 0);
        for (int index : live) {
            ChunkUpdates updates = Objects.requireNonNull(found.get(summary.apply(index)), "each live chunk was read");
            IntStream.Builder rows = IntStream.builder();
            int count = 0;
            for (int i = 0; i < updates.rows().length; i++) {
                int row = updates.rows()[i];
                if (table.isLive(index, row)) {
                    selected.seen.set(updates.keys()[i]);
                    if (updates.changed().get(row)) {
                        rows.add(row);
                        count++;
                    }
                }
            }
            if (count > 0) {
                selected.rows.put(index, rows.build().toArray());
            }
        }
        requireKeys(base, selected.seen);
        long changed =
                selected.rows.values().stream().mapToLong(rows -> rows.length).sum();
        return new Selected(selected.rows, selected.seen, selected.seen.cardinality() - changed);
    }

    private void requireKeys(Snapshot base, BitSet seen) throws UnknownKeyException {
        int absent = values.size() - seen.cardinality();
        if (absent == 0 || missing == SampleRule.MissingKeys.IGNORE) {
            return;
        }
        String first = "";
        for (Map.Entry<String, NewValues.Place> key : values.all()) {
            if (!seen.get(key.getValue().number())
                    && (first.isEmpty() || key.getKey().compareTo(first) < 0)) {
                first = key.getKey();
            }
        }
        throw new UnknownKeyException(base.info().name(), base.version(), first, absent - 1);
    }

    private List<String> firstKeys(ChunkTable table, Map<Integer, int[]> selected) throws IOException {
        List<String> keys = new ArrayList<>();
        for (Map.Entry<Integer, int[]> chunk : selected.entrySet()) {
            if (keys.size() == UpdatePlan.FIRST_KEYS) {
                break;
            }
            ChunkHead head = ChunkHeads.read(dataset.store(), table, chunk.getKey());
            IntStream.of(chunk.getValue())
                    .limit(UpdatePlan.FIRST_KEYS - keys.size())
                    .forEach(row -> keys.add(head.key(row)));
        }
        return keys;
    }
}
