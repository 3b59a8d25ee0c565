package dev.stoker.connectors.dataset.source.enumerator;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.jspecify.annotations.Nullable;

/**
 * Assigns the chunks of one version to readers that request them. The version is chosen when the enumerator starts and
 * is part of its state. The chunk table is read on a worker thread; all methods run on the coordinator's thread.
 */
public final class ChunkEnumerator implements SplitEnumerator<ChunkSplit, EnumeratorState> {

    /** Splits for each reader, so that all of them end at about the same time. */
    private static final int SPLITS_PER_READER = 16;

    private static final int MAX_CHUNKS = 64;

    private final SplitEnumeratorContext<ChunkSplit> context;
    private final DatasetScan scan;
    private final EnumeratorState begin;
    private final Deque<ChunkSplit> returned;
    private final SortedSet<Integer> waiting = new TreeSet<>();
    private @Nullable VersionChunks chunks;
    private int assigned;

    /** Starts to read a dataset. */
    public ChunkEnumerator(SplitEnumeratorContext<ChunkSplit> context, DatasetScan scan) {
        this(context, scan, new EnumeratorState("", 0, 0, List.of()));
    }

    /** Continues from a checkpoint. */
    public ChunkEnumerator(SplitEnumeratorContext<ChunkSplit> context, DatasetScan scan, EnumeratorState state) {
        this.context = context;
        this.scan = scan;
        this.begin = state;
        this.returned = new ArrayDeque<>(state.returned());
        this.assigned = state.assigned();
    }

    @Override
    public void start() {
        context.callAsync(() -> VersionChunks.find(scan, begin), this::found);
    }

    private void found(VersionChunks result, @Nullable Throwable failure) {
        if (failure != null) {
            throw new SuppressRestartsException(failure);
        }
        chunks = result;
        assign();
    }

    @Override
    public void addReader(int subtask) {}

    @Override
    public void handleSplitRequest(int subtask, @Nullable String host) {
        waiting.add(subtask);
        assign();
    }

    @Override
    public void addSplitsBack(List<ChunkSplit> splits, int subtask) {
        returned.addAll(splits);
        waiting.remove(subtask);
        assign();
    }

    private void assign() {
        if (chunks == null) {
            return;
        }
        for (int reader : List.copyOf(waiting)) {
            waiting.remove(reader);
            if (!context.registeredReaders().containsKey(reader)) {
                continue;
            }
            ChunkSplit next = next(chunks);
            if (next == null) {
                context.signalNoMoreSplits(reader);
            } else {
                context.assignSplit(next, reader);
            }
        }
    }

    private @Nullable ChunkSplit next(VersionChunks all) {
        if (!returned.isEmpty()) {
            return returned.remove();
        }
        if (assigned >= all.size()) {
            return null;
        }
        int share = all.size() / (SPLITS_PER_READER * Math.max(1, context.currentParallelism()));
        int to = Math.min(all.size(), assigned + Math.max(1, Math.min(MAX_CHUNKS, share)));
        ChunkSplit split = all.split(assigned, to);
        assigned = to;
        return split;
    }

    @Override
    public EnumeratorState snapshotState(long checkpointId) {
        return new EnumeratorState(
                chunks == null ? begin.dataset() : chunks.dataset(),
                chunks == null ? begin.version() : chunks.version(),
                assigned,
                List.copyOf(returned));
    }

    @Override
    public void close() {
        ClassLoaderCleanup.now();
    }
}
