package dev.stoker.cli.browse;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.diff.VersionComparison;
import dev.stoker.metadata.diff.VersionDiff;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.server.http.PageServer;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Compares versions, one pair at a time, on one thread. A new pair ends the one before. Thread-safe. */
final class Comparisons implements AutoCloseable {

    /** Samples that may differ; a comparison keeps all of them in memory. */
    private static final long MOST_SAMPLES = 2_000_000;

    private static final int THREADS = 4;
    private static final int KEPT = 4;

    /** A comparison that may still run. */
    static final class Comparison {
        private final int chunks;
        private final AtomicInteger read;
        private volatile @Nullable VersionDiff diff;
        private volatile @Nullable String problem;

        private Comparison(int chunks, AtomicInteger read) {
            this.chunks = chunks;
            this.read = read;
        }

        /** Returns the number of chunks to read. */
        int chunks() {
            return chunks;
        }

        /** Returns the number of chunks that were read. */
        int read() {
            return read.get();
        }

        /** Returns the result; null while the comparison runs, or if it failed. */
        @Nullable
        VersionDiff diff() {
            return diff;
        }

        /** Returns why there is no result; null if there is no reason. */
        @Nullable
        String problem() {
            return problem;
        }
    }

    /** Two versions. */
    private record Pair(long from, long to) {}

    private final Dataset dataset;
    private final ExecutorService thread =
            Executors.newSingleThreadExecutor(PageServer.threads("stoker-browse-compare"));
    private final Map<Pair, Comparison> known = new LinkedHashMap<>(KEPT, 0.75f, true);
    private @Nullable Future<?> running;

    Comparisons(Dataset dataset) {
        this.dataset = dataset;
    }

    /** Returns a comparison, and begins it if this is the first time. */
    synchronized Comparison of(Snapshot from, Snapshot to) {
        Pair pair = new Pair(from.version(), to.version());
        Comparison before = known.get(pair);
        if (before != null) {
            return before;
        }
        if (running != null) {
            running.cancel(true);
            known.values().removeIf(other -> other.diff == null && other.problem == null);
        }
        Comparison started = start(from, to);
        known.put(pair, started);
        if (known.size() > KEPT) {
            known.remove(known.keySet().iterator().next());
        }
        return started;
    }

    private Comparison start(Snapshot from, Snapshot to) {
        long samples = differing(from.table(), to.table()) + differing(to.table(), from.table());
        if (samples > MOST_SAMPLES) {
            Comparison refused = new Comparison(0, new AtomicInteger());
            refused.problem = "the chunks that differ have " + samples + " samples, too many for this page; use stoker"
                    + " diff " + ShellText.word(dataset.where()) + " " + from.version() + " " + to.version();
            return refused;
        }
        AtomicInteger read = new AtomicInteger();
        VersionComparison work = new VersionComparison(dataset, from, to, THREADS, read::addAndGet);
        Comparison comparison = new Comparison(work.chunks(), read);
        running = thread.submit(() -> run(work, comparison));
        return comparison;
    }

    private static void run(VersionComparison work, Comparison comparison) {
        try {
            comparison.diff = work.run(VersionComparison.Samples.LISTED);
        } catch (IOException | RuntimeException e) {
            comparison.problem = BrowseProblems.text(e);
        }
    }

    /** Returns the number of samples in chunks that are not the same in another version. */
    private static long differing(ChunkTable has, ChunkTable other) {
        long samples = 0;
        for (int i = 0; i < has.size(); i++) {
            int there = other.indexOf(has.ordinal(i));
            boolean isSame = there >= 0
                    && has.liveRows(i) == other.liveRows(there)
                    && Objects.equals(has.overlay(i), other.overlay(there));
            samples += isSame ? 0 : has.liveRows(i);
        }
        return samples;
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
