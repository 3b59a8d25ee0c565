package dev.stoker.metadata.rebuild;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.index.build.RepeatedKeys;
import dev.stoker.metadata.recovery.LostOverlays;
import dev.stoker.metadata.recovery.RebuiltLog;
import dev.stoker.metadata.removal.RowsByChunk;
import dev.stoker.metadata.work.ThreadWorkers;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.ClassOrder;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Rebuilds the log of a dataset that has lost it, from the heads of its chunks. Reads each chunk twice, its end and its
 * head, and no payload. Deletes nothing.
 *
 * <p>All chunks become one version. If several chunks have a sample with the same key, the newest one counts: the
 * chunks are older and newer versions then, and each version removes the older samples of its keys, so that no
 * version has a key twice. Used by one thread; reads with several.
 */
public final class Rebuild implements Closeable {

    private static final int INGESTS_SHOWN = 10;

    private final ObjectStore store;
    private final RebuiltLog log;
    private final HeadSpool spool;
    private final BuildThreads threads;
    private final Optional<Workers> others;
    private final List<FoundChunk> chunks = new ArrayList<>();
    private final Set<String> leftOut = new TreeSet<>();
    private final List<String> damaged = new ArrayList<>();
    private List<LogEntry> entries = List.of();
    private long repeated;
    private int updated;

    private Rebuild(
            ObjectStore store, RebuiltLog log, HeadSpool spool, BuildThreads threads, Optional<Workers> others) {
        this.store = store;
        this.log = log;
        this.spool = spool;
        this.threads = threads;
        this.others = others;
    }

    /**
     * Reads the chunks of a dataset. Writes nothing to it.
     *
     * @param threads read the heads
     * @param progress receives the number of chunks read since its last call, on any thread
     * @throws StokerException if the dataset has a log
     * @throws InterruptedException if interrupted
     */
    public static Rebuild plan(ObjectStore store, BuildThreads threads, IntConsumer progress)
            throws IOException, InterruptedException {
        return plan(store, threads, Optional.empty(), progress);
    }

    /**
     * As {@link #plan(ObjectStore, BuildThreads, IntConsumer)}, with workers on other machines. They read each head
     * again to compare the keys and for the index, and write temporary files.
     *
     * @param workers read the heads
     */
    public static Rebuild plan(ObjectStore store, Workers workers, IntConsumer progress)
            throws IOException, InterruptedException {
        return plan(store, BuildThreads.ofCaller(), Optional.of(workers), progress);
    }

    private static Rebuild plan(ObjectStore store, BuildThreads threads, Optional<Workers> others, IntConsumer progress)
            throws IOException, InterruptedException {
        Rebuild rebuild = new Rebuild(store, RebuiltLog.of(store), new HeadSpool(store), threads, others);
        try {
            rebuild.read(
                    others.orElseGet(() -> new ThreadWorkers(store, threads.executor(), threads.count())), progress);
            rebuild.makeEntries();
            rebuild.addOverlays();
            return rebuild;
        } catch (IOException | InterruptedException | RuntimeException e) {
            rebuild.close();
            throw e;
        }
    }

    private void read(Workers workers, IntConsumer progress) throws IOException, InterruptedException {
        List<ObjectInfo> objects = new ArrayList<>();
        try (ObjectIterator listed = store.list(DatasetLayout.CHUNKS)) {
            while (listed.hasNext()) {
                ObjectInfo object = listed.next();
                if (ChunkNames.idOf(object.name()).isPresent()) {
                    objects.add(object);
                }
            }
        }
        Set<String> leased = log.leased();
        ChunkSurvey work = new ChunkSurvey(log.info(), objects, spool);
        workers.run(work.pieces(), work, found -> {
            for (FoundChunk chunk : found.chunks()) {
                if (leased.contains(chunk.ingest())) {
                    leftOut.add(chunk.ingest());
                } else {
                    chunks.add(chunk);
                }
            }
            damaged.addAll(found.damaged());
            progress.accept(found.chunks().size() + found.damaged().size());
        });
        chunks.sort(FoundChunk.OLDEST_FIRST);
        Collections.sort(damaged);
        if (chunks.isEmpty()) {
            throw new CorruptDataException(
                    log.in(store).where() + " has no intact chunk" + (damaged.isEmpty() ? "" : ": " + damaged.get(0)));
        }
    }

    private void makeEntries() throws IOException, InterruptedException {
        LogEntry all = entry(1, 0, chunks.size(), List.of());
        ChunkTable table = ChunkTable.empty(log.info()).with(all);
        RepeatedKeys keys = others.map(workers -> new RepeatedKeys(store, table, workers))
                .orElseGet(() -> new RepeatedKeys(log.in(spool), table, threads));
        // By chunk: the newest older chunk that has one of its keys.
        int[] older = new int[chunks.size()];
        Arrays.fill(older, -1);
        keys.find((newer, ordinal, row) -> {
            repeated++;
            older[(int) newer] = Math.max(older[(int) newer], (int) ordinal);
        });
        if (repeated == 0) {
            entries = List.of(all);
            return;
        }
        List<Integer> firsts = firsts(older);
        int[] layers = new int[chunks.size()];
        for (int layer = 0; layer < firsts.size(); layer++) {
            int end = layer + 1 < firsts.size() ? firsts.get(layer + 1) : layers.length;
            Arrays.fill(layers, firsts.get(layer), end, layer);
        }
        List<RowsByChunk> removed =
                firsts.stream().map(first -> new RowsByChunk()).toList();
        keys.find((newer, ordinal, row) -> removed.get(layers[(int) newer]).add(ordinal, row));
        List<LogEntry> made = new ArrayList<>();
        for (int layer = 0; layer < firsts.size(); layer++) {
            int end = layer + 1 < firsts.size() ? firsts.get(layer + 1) : layers.length;
            made.add(entry(layer + 1, firsts.get(layer), end, removed.get(layer).list()));
        }
        entries = made;
    }

    /** Adds a version with the newest overlay of each chunk, if there are overlays. */
    private void addOverlays() throws IOException {
        LostOverlays overlays = LostOverlays.read(log.in(spool), Set.of(), log.leased());
        if (!overlays.isEmpty()) {
            ChunkTable table = ChunkTable.empty(log.info()).with(entries);
            LogEntry update = overlays.with(entry(entries.size() + 1L, 0, 0, List.of()), table);
            if (!update.updated().isEmpty()) {
                entries = Stream.concat(entries.stream(), Stream.of(update)).toList();
                updated = update.updated().size();
            }
        }
        overlays.notes().forEach(damaged::add);
    }

    /** Returns the first chunks of the versions: a version has no key twice. */
    private static List<Integer> firsts(int... older) {
        List<Integer> firsts = new ArrayList<>(List.of(0));
        for (int chunk = 0; chunk < older.length; chunk++) {
            if (older[chunk] >= firsts.get(firsts.size() - 1)) {
                firsts.add(chunk);
            }
        }
        return firsts;
    }

    /** The entry depends on the chunks alone, so that an interrupted rebuild can be repeated. */
    private LogEntry entry(long version, int from, int end, List<RemovedRows> removed) {
        Map<String, Set<String>> classes = new TreeMap<>();
        AddedFields added = AddedFields.NONE;
        long newestMs = 0;
        for (FoundChunk chunk : chunks.subList(from, end)) {
            added = added.with(chunk.fields());
            newestMs = Math.max(newestMs, chunk.createdMs());
            chunk.classes()
                    .forEach((field, names) -> classes.computeIfAbsent(field, f -> new TreeSet<>(ClassOrder.INSTANCE))
                            .addAll(names));
        }
        Map<String, List<String>> sorted = new TreeMap<>();
        classes.forEach((field, names) -> sorted.put(field, List.copyOf(names)));
        return new LogEntry(
                log.info().id(),
                version,
                RebuiltLog.INGEST + version,
                Operation.RECOVERED,
                newestMs,
                "stoker rebuild",
                IntStream.range(from, end).mapToObj(i -> chunks.get(i).added(i)).toList(),
                removed,
                sorted,
                LogEntry.properties(Map.of(), added));
    }

    /** Returns the number of versions that {@link #apply} makes. */
    public int versions() {
        return entries.size();
    }

    /** Returns the number of chunks. */
    public int chunks() {
        return chunks.size();
    }

    /** Returns the number of samples of the newest version. */
    public long samples() {
        return chunks.stream().mapToLong(chunk -> chunk.summary().rows()).sum() - repeated;
    }

    /** Returns what the user should know, one line each. */
    public List<String> notes() {
        List<String> notes = new ArrayList<>(log.notes());
        if (repeated > 0) {
            notes.add("samples with the same key are in several chunks, after compactions or replacements; the samples"
                    + " of the newest ones count");
        }
        if (updated > 0) {
            notes.add("the newest values of updated samples come back, in " + Units.plural(updated, "overlay")
                    + "; also those of updates that never committed");
        }
        Set<String> ingests = new TreeSet<>();
        chunks.forEach(chunk -> ingests.add(chunk.ingest()));
        notes.add("samples that were deleted come back if their chunks are still there, and so do the chunks of ingests"
                + " that never committed; there are chunks of "
                + Units.plural(ingests.size(), "ingest") + ": "
                + String.join(", ", ingests.stream().limit(INGESTS_SHOWN).toList())
                + (ingests.size() > INGESTS_SHOWN ? ", …" : ""));
        notes.add("the history of the versions, tags, uses of running feeds and the order of the chunks are lost; feeds"
                + " of the new version have another order");
        leftOut.forEach(ingest -> notes.add(
                "the chunks of ingest " + ingest + " are left out: its lease says that it has not committed"));
        damaged.forEach(problem -> notes.add("left out: " + problem));
        return notes;
    }

    /** Writes log and chunk table. */
    public void apply() throws IOException {
        log.publish(entries, ChunkTable.empty(log.info()).with(entries));
    }

    /**
     * Writes the sample index, from the heads that were read. Called after {@link #apply}. Replaces runs of the lost
     * log, which are derived data.
     */
    public IndexBuild.Result index() throws IOException, InterruptedException {
        Dataset dataset = Dataset.open(spool);
        return others.map(workers -> new IndexBuild(dataset, workers, read -> {}))
                .orElseGet(() -> new IndexBuild(dataset, threads, read -> {}))
                .update();
    }

    @Override
    public void close() throws IOException {
        spool.close();
    }
}
