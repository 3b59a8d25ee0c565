package dev.stoker.metadata.index;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.TemporaryRun;
import dev.stoker.metadata.index.run.DamagedRunException;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.index.run.IndexRuns;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds, lists and reads the samples of one version by key. Uses the runs of the dataset's index. Chunks without a run,
 * or with a damaged one, are read from their heads at the first access that needs them, so the answers do not depend on
 * the index. Thread-safe.
 */
public final class SampleIndex {

    private static final Logger LOG = LoggerFactory.getLogger(SampleIndex.class);

    private static final byte[] NONE = {};

    private final Dataset dataset;
    private final ChunkTable table;
    private final BuildThreads threads;
    private final SampleReads reads;
    private final @Nullable AddressHints hints;
    /** The split whose samples are found; null for all. */
    private final @Nullable String split;

    /** The run of the chunks that no run of the dataset covers; absent if each chunk has a run. */
    private record Rest(@Nullable SampleRun run) {}

    /** @param rest null until it is needed */
    private record State(IndexView view, @Nullable Rest rest) {

        @Nullable
        SampleRun requireRest() {
            return Objects.requireNonNull(rest, "made before").run();
        }
    }

    /** Guards changes of {@link #state}. */
    private final Object change = new Object();

    /** Names of runs that are not used any more. Guarded by {@link #change}. */
    private final Set<String> damaged = new HashSet<>();

    private volatile State state;

    private SampleIndex(
            Dataset dataset,
            ChunkTable table,
            BuildThreads threads,
            @Nullable String split,
            IndexView view,
            @Nullable AddressHints hints) {
        this.dataset = dataset;
        this.table = table;
        this.threads = threads;
        this.split = split;
        this.state = new State(view, null);
        this.reads = new SampleReads(dataset.store(), table);
        this.hints = hints;
    }

    /** Opens the index of a version. Chunks without a run are read in the thread that needs them. */
    public static SampleIndex open(Dataset dataset, Snapshot snapshot) throws IOException {
        return open(dataset, snapshot, BuildThreads.ofCaller());
    }

    /**
     * Opens the index of a version, for lookups that ask others first. Chunks without a run are read in the thread that
     * needs them.
     *
     * @param hints says where samples may be; the caller closes it
     */
    public static SampleIndex open(Dataset dataset, Snapshot snapshot, AddressHints hints) throws IOException {
        IndexView view = view(dataset, snapshot.table(), null, Set.of());
        return new SampleIndex(dataset, snapshot.table(), BuildThreads.ofCaller(), null, view, hints);
    }

    /**
     * Opens the index of a version.
     *
     * @param threads read the heads of chunks without a run
     */
    public static SampleIndex open(Dataset dataset, Snapshot snapshot, BuildThreads threads) throws IOException {
        return open(dataset, snapshot, threads, null);
    }

    /** Opens the index of one split of a version. Samples of other splits are not found. */
    public static SampleIndex ofSplit(Dataset dataset, Snapshot snapshot, String split) throws IOException {
        return open(dataset, snapshot, BuildThreads.ofCaller(), split);
    }

    private static SampleIndex open(Dataset dataset, Snapshot snapshot, BuildThreads threads, @Nullable String split)
            throws IOException {
        ChunkTable table = snapshot.table();
        return new SampleIndex(dataset, table, threads, split, view(dataset, table, split, Set.of()), null);
    }

    /**
     * Opens the runs that a version needs.
     *
     * @param split the split whose samples are found; null for all
     * @param damaged names of runs that are not used
     */
    private static IndexView view(Dataset dataset, ChunkTable table, @Nullable String split, Set<String> damaged)
            throws IOException {
        List<IndexRange> ranges = new ArrayList<>(IndexRuns.list(dataset.store()));
        ranges.removeIf(range -> range.first() > table.version()
                || damaged.contains(dataset.store().describe(range.name())));
        Map<IndexRange, SampleRun> opened = new HashMap<>();
        while (true) {
            List<IndexRange> wanted = new ArrayList<>(ranges);
            wanted.removeAll(IndexRange.superseded(ranges));
            List<IndexRange> failed = new ArrayList<>();
            for (IndexRange range : wanted) {
                if (!opened.containsKey(range)) {
                    open(dataset, table, range).ifPresentOrElse(run -> opened.put(range, run), () -> failed.add(range));
                }
            }
            if (failed.isEmpty()) {
                return new IndexView(
                        table, split, wanted.stream().map(opened::get).toList());
            }
            // A run that a damaged one supersedes may still be there.
            ranges.removeAll(failed);
        }
    }

    private static Optional<SampleRun> open(Dataset dataset, ChunkTable table, IndexRange range) throws IOException {
        try {
            return Optional.of(IndexRuns.open(dataset, table, range));
        } catch (NoSuchObjectException | NoSuchFileException e) {
            LOG.debug("A build of the sample index has replaced {}", range);
        } catch (StokerException e) {
            warn(e);
        }
        return Optional.empty();
    }

    private static void warn(IOException e) {
        LOG.warn("A run of the sample index is not used; the heads of its chunks are read instead: {}", e.getMessage());
    }

    /** Returns the version. */
    public long version() {
        return table.version();
    }

    /** Returns the number of live chunks that no run of the index covers. */
    public int chunksWithoutRun() {
        return state.view().uncovered().length;
    }

    /** Returns the number of runs that are used. */
    public int runs() {
        return state.view().runs().size();
    }

    /** Returns what is known about the sample with this key; empty if the version has none. */
    public Optional<SampleStat> stat(String key) throws IOException {
        return hints == null ? statByIndex(key) : stat(List.of(key)).get(0);
    }

    /** Returns what is known about the samples with these keys, in the order of the keys. */
    public List<Optional<SampleStat>> stat(List<String> keys) throws IOException {
        List<Optional<SampleStat>> stats = new ArrayList<>();
        List<@Nullable IndexedRow> hinted = hinted(keys);
        for (int i = 0; i < keys.size(); i++) {
            IndexedRow row = hinted.get(i);
            stats.add(row == null ? statByIndex(keys.get(i)) : Optional.of(stat(keys.get(i), row)));
        }
        return stats;
    }

    private Optional<SampleStat> statByIndex(String key) throws IOException {
        byte[] utf8 = utf8(key);
        IndexView.Found found = utf8 == null ? null : find(utf8);
        return found == null ? Optional.empty() : Optional.of(stat(key, found.place()));
    }

    /** Returns the rows that the hints name and that have these keys; null for each other key. */
    private List<@Nullable IndexedRow> hinted(List<String> keys) throws IOException {
        List<@Nullable IndexedRow> rows = new ArrayList<>();
        List<Optional<AddressHints.Place>> places = hints == null ? List.of() : hints.find(keys);
        for (int i = 0; i < keys.size(); i++) {
            rows.add(
                    places.isEmpty() || places.get(i).isEmpty()
                            ? null
                            : reads.row(keys.get(i), places.get(i).get()));
        }
        return rows;
    }

    /**
     * Lists samples in the order of the bytes of their keys. Reads the index while the listing advances.
     *
     * @param prefix lists only keys that begin with this text
     * @param delimiter if not empty, all keys with this text after the prefix are one entry: the common prefix up to
     *     and including the first delimiter
     */
    public SampleListing list(String prefix, String delimiter) {
        byte[] bytes = utf8(prefix);
        byte[] separator = utf8(delimiter);
        if (bytes == null || separator == null) {
            throw new IllegalArgumentException("the prefix or the delimiter is not Unicode text");
        }
        return new SampleListing(this, bytes, separator);
    }

    /** Reads and verifies the sample with this key; empty if the version has none. */
    public Optional<StoredSample> get(String key) throws IOException {
        return get(List.of(key)).get(0);
    }

    /**
     * Reads and verifies samples, chunk by chunk.
     *
     * @return one element for each key, in the order of the keys; empty for a key that the version does not have
     * @throws dev.stoker.schemas.errors.CorruptDataException if a sample is damaged; names chunk, row and key
     */
    public List<Optional<StoredSample>> get(List<String> keys) throws IOException {
        while (true) {
            List<IndexView.@Nullable Found> found = new ArrayList<>();
            List<@Nullable IndexedRow> hinted = hinted(keys);
            for (int i = 0; i < keys.size(); i++) {
                IndexedRow row = hinted.get(i);
                byte[] utf8 = utf8(keys.get(i));
                found.add(row != null ? new IndexView.Found(null, row) : utf8 == null ? null : find(utf8));
            }
            try {
                return reads.read(keys, found);
            } catch (DamagedRunException e) {
                discard(e);
            }
        }
    }

    private IndexView.@Nullable Found find(byte[] key) throws IOException {
        while (true) {
            State now = state;
            try {
                IndexView.Found found = now.view().find(key);
                if (found != null || now.view().uncovered().length == 0) {
                    return found;
                }
                // Another thread may have discarded a run since. The rest then has the samples of that run, too.
                SampleRun rest = complete().requireRest();
                return rest == null ? null : now.view().find(rest, key);
            } catch (DamagedRunException e) {
                discard(e);
            }
        }
    }

    /** Returns the runs that together contain all chunks of the version. */
    List<SampleRun> runsOfAllChunks() throws IOException {
        State complete = complete();
        List<SampleRun> runs = new ArrayList<>(complete.view().runs());
        SampleRun rest = complete.requireRest();
        if (rest != null) {
            runs.add(rest);
        }
        return runs;
    }

    /** Returns the state with a run of the chunks that no run of the dataset covers. */
    private State complete() throws IOException {
        State made = state;
        if (made.rest() != null) {
            return made;
        }
        synchronized (change) {
            State now = state;
            if (now.rest() != null) {
                return now;
            }
            try {
                State complete = new State(
                        now.view(),
                        new Rest(TemporaryRun.of(dataset, table, now.view().uncovered(), threads)
                                .orElse(null)));
                state = complete;
                return complete;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                InterruptedIOException interrupted = new InterruptedIOException("Interrupted while reading heads");
                interrupted.initCause(e);
                throw interrupted;
            }
        }
    }

    /** Stops using a run that is damaged, or that a build has merged and deleted, and looks for others. */
    void discard(DamagedRunException e) throws IOException {
        synchronized (change) {
            State now = state;
            if (now.view().runs().contains(e.run())) {
                warn(e);
                damaged.add(e.run().name());
                state = new State(view(dataset, table, split, damaged), null);
            } else if (now.rest() != null && e.run().equals(now.rest().run())) {
                throw e.failure();
            }
        }
    }

    /**
     * Tells the index that the chunk has another key in the row of a sample. The index then no longer uses the run that
     * named the row.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if the row was read from the chunk itself
     */
    public void refute(SampleStat stat) throws IOException {
        IndexView.Found found = find(bytes(stat.key()));
        if (found != null
                && found.place().ordinal() == stat.ordinal()
                && found.place().row() == stat.row()) {
            SampleRun run = Objects.requireNonNull(found.run(), "the index has named the row");
            discard(new DamagedRunException(
                    run,
                    new CorruptDataException(run.name() + " is corrupt: it names row " + stat.row()
                            + " of chunk " + stat.ordinal() + " for the key '" + stat.key()
                            + "', which has another sample there")));
        }
    }

    public boolean isLive(IndexedRow row) {
        return state.view().isLive(row);
    }

    public SampleStat stat(String key, IndexedRow row) {
        int chunk = table.indexOf(row.ordinal());
        return new SampleStat(key, table.split(chunk), row.ordinal(), row.row(), row.length(), row.crc32c());
    }

    /** Returns the UTF-8 of a key that was read from a chunk. */
    public static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] key) {
        return new String(key, StandardCharsets.UTF_8);
    }

    /** Returns a text as UTF-8; null for a text with unpaired surrogates, which no key has. */
    private static byte @Nullable [] utf8(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isSurrogate(c)) {
                if (!Character.isHighSurrogate(c)
                        || i + 1 == text.length()
                        || !Character.isLowSurrogate(text.charAt(i + 1))) {
                    return null;
                }
                i++;
            }
        }
        return text.isEmpty() ? NONE : text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the advice for an index that names wrong rows. */
    String howToRebuild() {
        return "build it again with `stoker index " + ShellText.word(dataset.where()) + " --rebuild`";
    }
}
