package dev.stoker.metadata.removal;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.UnknownSplitException;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Removes the samples that a rule selects. Reads the heads of all live chunks, each of them once, even if the commit is
 * retried on several versions. A version that commits meanwhile therefore costs only the heads of its own chunks, and
 * its samples are removed as well. Used by one thread; reads with several.
 */
public final class SampleRemoval implements Removal {

    private final Dataset dataset;
    private final SampleRule rule;
    private final int threads;
    private final IntConsumer progress;
    private final Map<String, Integer> numbers = new HashMap<>();
    /** By chunk, with its overlay, on which a condition can depend. */
    private final Map<ChunkSummary, ChunkMatches> matches = new ConcurrentHashMap<>();

    /**
     * @param threads number of chunks to read at a time
     * @param progress receives 1 for each chunk that was read, from any thread
     */
    public SampleRemoval(Dataset dataset, SampleRule rule, int threads, IntConsumer progress) {
        this.dataset = dataset;
        this.rule = rule;
        this.threads = threads;
        this.progress = progress;
        rule.keys().forEach(key -> numbers.put(key, numbers.size()));
    }

    /** Removes samples by key, which must all exist. Reads one chunk at a time. */
    public static SampleRemoval ofKeys(Dataset dataset, Iterable<String> keys) {
        return new SampleRemoval(dataset, SampleRule.ofKeys(keys), 1, chunks -> {});
    }

    /**
     * @throws UnknownKeyException if the version lacks one of the samples
     * @throws NothingToRemoveException if the version has none of the samples
     * @throws UnknownSplitException if the rule names a split that the version lacks
     */
    @Override
    public List<RemovedRows> from(Snapshot base) throws IOException {
        Selected selected = select(base);
        requireKeys(base, selected.seen);
        List<RemovedRows> removed = new ArrayList<>();
        selected.rows.forEach((index, rows) -> {
            long ordinal = base.table().ordinal(index);
            removed.add(
                    rows.length == base.table().liveRows(index)
                            ? RemovedRows.wholeChunk(ordinal)
                            : RemovedRows.of(ordinal, rows));
        });
        if (removed.isEmpty()) {
            throw new NothingToRemoveException(base.info().name(), base.version());
        }
        return removed;
    }

    /**
     * Returns what a commit on this version would remove.
     *
     * @throws UnknownKeyException if the version lacks one of the samples
     * @throws UnknownSplitException if the rule names a split that the version lacks
     */
    public RemovalPlan plan(Snapshot base) throws IOException {
        Selected selected = select(base);
        requireKeys(base, selected.seen);
        ChunkTable table = base.table();
        Map<String, long[]> bySplit = new LinkedHashMap<>();
        selected.rows.forEach((index, rows) -> {
            long[] counts = bySplit.computeIfAbsent(table.split(index), split -> new long[2]);
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
        return new RemovalPlan(
                base.version(), splits, firstKeys(table, selected.rows), numbers.size() - selected.seen.cardinality());
    }

    /**
     * The selected rows of a version.
     *
     * @param rows live rows by the index of their chunk, in the order of the chunks
     * @param seen the numbers of the given keys that a live sample has
     */
    private record Selected(Map<Integer, int[]> rows, BitSet seen) {}

    private Selected select(Snapshot base) throws IOException {
        ChunkTable table = base.table();
        if (rule.split().isPresent()) {
            // Throws an exception with the known splits if this one does not exist.
            base.stream(rule.split().get());
        }
        int[] live = IntStream.range(0, table.size())
                .filter(i -> table.isLive(i)
                        && rule.split().map(table.split(i)::equals).orElse(true))
                .toArray();
        int[] unread = IntStream.of(live)
                .filter(i -> !matches.containsKey(table.summary(i)))
                .toArray();
        ParallelChunks.forEach(unread, threads, () -> {
            ChunkMatches.Search search = new ChunkMatches.Search(dataset.store(), rule, numbers);
            return index -> {
                matches.put(table.summary(index), search.of(table.summary(index)));
                progress.accept(1);
            };
        });
        Selected selected = new Selected(new LinkedHashMap<>(), new BitSet());
        for (int index : live) {
            ChunkMatches found = Objects.requireNonNull(matches.get(table.summary(index)), "each live chunk was read");
            int[] gone = table.removedRows(index);
            for (int i = 0; i < found.keyRows().length; i++) {
                if (Arrays.binarySearch(gone, found.keyRows()[i]) < 0) {
                    selected.seen.set(found.keys()[i]);
                }
            }
            int[] rows = IntStream.of(found.rows())
                    .filter(row -> Arrays.binarySearch(gone, row) < 0)
                    .toArray();
            if (rows.length > 0) {
                selected.rows.put(index, rows);
            }
        }
        return selected;
    }

    private void requireKeys(Snapshot base, BitSet seen) throws UnknownKeyException {
        int missing = numbers.size() - seen.cardinality();
        if (missing > 0 && rule.missing() == SampleRule.MissingKeys.FAIL) {
            String first = numbers.entrySet().stream()
                    .filter(key -> !seen.get(key.getValue()))
                    .map(Map.Entry::getKey)
                    .min(String::compareTo)
                    .orElseThrow();
            throw new UnknownKeyException(base.info().name(), base.version(), first, missing - 1);
        }
    }

    private List<String> firstKeys(ChunkTable table, Map<Integer, int[]> selected) throws IOException {
        List<String> keys = new ArrayList<>();
        for (Map.Entry<Integer, int[]> chunk : selected.entrySet()) {
            if (keys.size() == RemovalPlan.FIRST_KEYS) {
                break;
            }
            ChunkHead head = ChunkHeads.read(dataset.store(), table, chunk.getKey());
            IntStream.of(chunk.getValue())
                    .limit(RemovalPlan.FIRST_KEYS - keys.size())
                    .forEach(row -> keys.add(head.key(row)));
        }
        return keys;
    }
}
