package dev.stoker.metadata.diff;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.metadata.diff.VersionDiff.Change;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * Compares two versions of a dataset. Chunks with the same rows in both versions are not read. The memory grows with
 * the number of samples in the other chunks, including the samples that a compaction has moved. For one use.
 */
public final class VersionComparison {

    /** A sample that one of the versions lacks, unless it is in another chunk. */
    private record Found(String split, String key, SampleDigest.Content content, List<String> classes) {}

    private final Dataset dataset;
    private final ChunkTable first;
    private final ChunkTable second;
    private final ChunkTable all;
    /** The fields of the newer version. A sample of the older one has no values in those that were added later. */
    private final List<Field> fields;

    private final int threads;
    private final IntConsumer progress;
    private final List<Integer> categorical = new ArrayList<>();
    private final Map<String, Found> gone = new ConcurrentHashMap<>();
    private final ConcurrentLinkedQueue<Found> added = new ConcurrentLinkedQueue<>();

    /**
     * @param threads number of chunks to read at a time
     * @param progress receives 1 for each chunk that was read, from any thread
     */
    public VersionComparison(Dataset dataset, Snapshot first, Snapshot second, int threads, IntConsumer progress) {
        this.dataset = dataset;
        this.first = first.table();
        this.second = second.table();
        this.all = first.version() > second.version() ? this.first : this.second;
        this.threads = threads;
        this.progress = progress;
        this.fields =
                (first.version() > second.version() ? first : second).info().fields();
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).type() == ScalarType.CATEGORICAL) {
                categorical.add(f);
            }
        }
    }

    /** Returns the number of chunks that are read. */
    public int chunks() {
        return differing(first, second).length + differing(second, first).length;
    }

    /**
     * Compares the versions.
     *
     * @param withSamples whether to list the samples that differ
     */
    public VersionDiff run(Samples withSamples) throws IOException {
        ParallelChunks.forEach(differing(first, second), threads, () -> {
            SampleDigest digest = new SampleDigest();
            return chunk -> read(chunk, first, second, digest, sample -> gone.put(sample.key, sample));
        });
        ParallelChunks.forEach(differing(second, first), threads, () -> {
            SampleDigest digest = new SampleDigest();
            return chunk -> read(chunk, second, first, digest, this::appeared);
        });
        return diff(withSamples);
    }

    /** Says whether a comparison lists the samples. */
    public enum Samples {
        COUNTED,
        LISTED
    }

    private void appeared(Found sample) {
        Found before = gone.get(sample.key);
        if (before != null && before.split.equals(sample.split) && before.content.equals(sample.content)) {
            gone.remove(sample.key);
        } else {
            added.add(sample);
        }
    }

    /** Returns the indexes of the chunks of which one version has rows or an overlay that the other one lacks. */
    private int[] differing(ChunkTable has, ChunkTable lacks) {
        return IntStream.range(0, all.size())
                .filter(i -> {
                    int here = has.indexOf(all.ordinal(i));
                    int there = lacks.indexOf(all.ordinal(i));
                    if (here < 0 || !has.isLive(here)) {
                        return false;
                    }
                    // Rows of a chunk are only ever removed.
                    return there < 0
                            || lacks.liveRows(there) < has.liveRows(here)
                            || isUpdated(here, has, there, lacks);
                })
                .toArray();
    }

    /** Whether two versions have rows of a chunk with different overlays, so that their values can differ. */
    private static boolean isUpdated(int here, ChunkTable has, int there, ChunkTable lacks) {
        return lacks.isLive(there) && !Objects.equals(has.overlay(here), lacks.overlay(there));
    }

    private interface Sink {
        void accept(Found sample);
    }

    private void read(int chunk, ChunkTable has, ChunkTable lacks, SampleDigest digest, Sink sink) throws IOException {
        int here = has.indexOf(all.ordinal(chunk));
        int there = lacks.indexOf(all.ordinal(chunk));
        ChunkHead head = ChunkHeads.read(dataset.store(), has, here).select(fields);
        int[] removedHere = has.removedRows(here);
        boolean isThere = there >= 0 && lacks.isLive(there) && !isUpdated(here, has, there, lacks);
        int[] removedThere = isThere ? lacks.removedRows(there) : new int[0];
        for (int row = 0; row < head.rows(); row++) {
            boolean isOther = isThere && Arrays.binarySearch(removedThere, row) < 0;
            if (!isOther && Arrays.binarySearch(removedHere, row) < 0) {
                sink.accept(new Found(has.split(here), head.key(row), digest.of(head, row), classes(head, row)));
            }
        }
        progress.accept(1);
    }

    /** Returns the class of each categorical field; an empty text for null. */
    private List<String> classes(ChunkHead head, int row) {
        List<String> classes = new ArrayList<>(categorical.size());
        for (int field : categorical) {
            ArrowColumn column = head.column(field);
            classes.add(column.isNull(row) ? "" : head.classes(field).get(column.intAt(row)));
        }
        return classes;
    }

    /** Counts of a split in the making. */
    private static final class Tally {
        private long added;
        private long removed;
        private long changed;
        private final List<Map<String, long[]>> classes = new ArrayList<>();
    }

    private VersionDiff diff(Samples withSamples) {
        Map<String, Tally> tallies = new TreeMap<>();
        List<VersionDiff.Sample> samples = new ArrayList<>();
        for (Found sample : added) {
            Tally tally = count(tallies, sample, 0);
            tally.added++;
            Found before = gone.get(sample.key);
            boolean isChange = before != null && before.split.equals(sample.split);
            tally.changed += isChange ? 1 : 0;
            if (withSamples == Samples.LISTED) {
                samples.add(new VersionDiff.Sample(sample.split, sample.key, isChange ? Change.CHANGED : Change.ADDED));
            }
        }
        Map<String, String> splitOfAdded = new HashMap<>();
        added.forEach(sample -> splitOfAdded.put(sample.key, sample.split));
        for (Found sample : gone.values()) {
            count(tallies, sample, 1).removed++;
            if (withSamples == Samples.LISTED && !sample.split.equals(splitOfAdded.get(sample.key))) {
                samples.add(new VersionDiff.Sample(sample.split, sample.key, Change.REMOVED));
            }
        }
        samples.sort(Comparator.comparing(VersionDiff.Sample::split)
                .thenComparing(VersionDiff.Sample::key)
                .thenComparing(VersionDiff.Sample::change));
        TreeMap<String, VersionDiff.Counts> splits = new TreeMap<>();
        tallies.forEach((split, tally) -> splits.put(
                split, new VersionDiff.Counts(tally.added, tally.removed, tally.changed, classCounts(tally))));
        return new VersionDiff(first.version(), second.version(), splits, samples);
    }

    private Tally count(Map<String, Tally> tallies, Found sample, int side) {
        Tally tally = tallies.computeIfAbsent(sample.split, split -> new Tally());
        for (int i = 0; i < categorical.size(); i++) {
            if (tally.classes.size() <= i) {
                tally.classes.add(new TreeMap<>());
            }
            tally.classes.get(i).computeIfAbsent(sample.classes.get(i), name -> new long[2])[side]++;
        }
        return tally;
    }

    private List<VersionDiff.ClassCounts> classCounts(Tally tally) {
        List<VersionDiff.ClassCounts> counts = new ArrayList<>();
        for (int i = 0; i < tally.classes.size(); i++) {
            String field = fields.get(categorical.get(i)).name();
            tally.classes
                    .get(i)
                    .forEach((name, both) -> counts.add(new VersionDiff.ClassCounts(field, name, both[0], both[1])));
        }
        return counts;
    }
}
