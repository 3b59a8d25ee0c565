package dev.stoker.metadata.index.build;

import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Determines the runs that a build writes: versions without a run get one, and runs are merged so that their number
 * grows with the logarithm of the rows.
 *
 * <p>The level of a run is the logarithm of its rows to the base 4; up to 4,096 rows it is 0. From the oldest run to
 * the newest, levels never ascend, and at most 3 successive runs have the same level.
 */
final class IndexPlan {

    private static final int SMALLEST = 4096;
    private static final int RUNS_OF_A_LEVEL = 4;
    private static final int BASE_BITS = 2;

    /**
     * A run to be written, or a run that stays.
     *
     * @param range its versions
     * @param runs existing runs whose rows it takes
     * @param chunks indices of the chunks whose heads are read
     * @param rows number of its rows, without those that it has twice
     */
    record Target(IndexRange range, List<SampleRun> runs, List<Integer> chunks, long rows) {

        /** Returns whether this is an existing run. */
        boolean isThere() {
            return runs.size() == 1 && chunks.isEmpty();
        }

        private int level() {
            int level = 0;
            for (long left = rows / SMALLEST; left > 0; left >>>= BASE_BITS) {
                level++;
            }
            return level;
        }

        private boolean overlaps(Target newer) {
            return newer.range.first() <= range.last();
        }

        private Target with(Target other) {
            List<SampleRun> allRuns = new ArrayList<>(runs);
            allRuns.addAll(other.runs);
            List<Integer> allChunks = new ArrayList<>(chunks);
            allChunks.addAll(other.chunks);
            IndexRange both = new IndexRange(
                    Math.min(range.first(), other.range.first()), Math.max(range.last(), other.range.last()));
            return new Target(both, allRuns, allChunks, rows + other.rows);
        }
    }

    private final List<Target> stack = new ArrayList<>();

    private IndexPlan() {}

    /**
     * Returns all runs after the build, in the order of their versions.
     *
     * @param table chunk table of the newest version
     * @param runs existing runs
     */
    static List<Target> of(ChunkTable table, List<SampleRun> runs) {
        List<Target> pieces = new ArrayList<>();
        for (SampleRun run : runs) {
            IndexRange range =
                    new IndexRange(run.identity().first(), run.identity().last());
            pieces.add(new Target(range, List.of(run), List.of(), run.rows()));
        }
        pieces.addAll(missing(table, runs));
        pieces.sort(Comparator.comparingLong((Target piece) -> piece.range.first())
                .thenComparingLong(piece -> piece.range.last()));
        IndexPlan plan = new IndexPlan();
        pieces.forEach(plan::push);
        return plan.stack;
    }

    /** Returns whether a run has the rows of the chunks that a version added. */
    private static boolean isCovered(long version, List<SampleRun> runs) {
        return runs.stream()
                .anyMatch(run -> run.identity().first() <= version
                        && version <= run.identity().last());
    }

    /** Returns a new run for each longest range of versions between existing runs. */
    private static List<Target> missing(ChunkTable table, List<SampleRun> runs) {
        List<Target> missing = new ArrayList<>();
        List<Integer> chunks = new ArrayList<>();
        long checked = 0;
        boolean isCovered = false;
        for (int i = 0; i <= table.size(); i++) {
            if (i < table.size() && table.addedIn(i) != checked) {
                checked = table.addedIn(i);
                isCovered = isCovered(checked, runs);
            }
            if ((i == table.size() || isCovered) && !chunks.isEmpty()) {
                IndexRange range =
                        new IndexRange(table.addedIn(chunks.get(0)), table.addedIn(chunks.get(chunks.size() - 1)));
                long rows = chunks.stream().mapToLong(table::rows).sum();
                missing.add(new Target(range, List.of(), chunks, rows));
                chunks = new ArrayList<>();
            }
            if (i < table.size() && !isCovered) {
                chunks.add(i);
            }
        }
        return missing;
    }

    private void push(Target piece) {
        stack.add(piece);
        while (true) {
            int count = stack.size();
            Target newest = stack.get(count - 1);
            if (count >= 2) {
                Target before = stack.get(count - 2);
                if (before.overlaps(newest) || before.level() < newest.level()) {
                    merge(2);
                    continue;
                }
            }
            if (count < RUNS_OF_A_LEVEL
                    || IntStream.rangeClosed(2, RUNS_OF_A_LEVEL)
                            .anyMatch(i -> stack.get(count - i).level() != newest.level())) {
                return;
            }
            merge(RUNS_OF_A_LEVEL);
        }
    }

    /** Replaces the newest runs by one. */
    private void merge(int count) {
        List<Target> newest = stack.subList(stack.size() - count, stack.size());
        Target merged = newest.get(0);
        for (Target target : newest.subList(1, count)) {
            merged = merged.with(target);
        }
        newest.clear();
        stack.add(merged);
    }
}
