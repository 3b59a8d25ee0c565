package dev.stoker.ingest.rows.read;

import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Emits runs, one at a time to each task that has finished its last one, so that slow and fast tasks end together.
 * Bounded, for batch execution.
 */
public final class RowRunSource implements Source<RowRun, RowRunSource.Split, List<RowRunSource.Split>> {
    private static final long serialVersionUID = 1;
    private static final int VERSION = 1;

    private final ArrayList<RowRun> runs;

    /** @param runs all runs, in the order in which they are handed out */
    public RowRunSource(List<RowRun> runs) {
        this.runs = new ArrayList<>(runs);
    }

    /** A run, as Flink assigns it. */
    record Split(RowRun run) implements SourceSplit {
        @Override
        public String splitId() {
            return Integer.toString(run.number());
        }
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<Split, List<Split>> createEnumerator(SplitEnumeratorContext<Split> context) {
        return new Enumerator(context, runs.stream().map(Split::new).toList());
    }

    @Override
    public SplitEnumerator<Split, List<Split>> restoreEnumerator(
            SplitEnumeratorContext<Split> context, List<Split> pending) {
        return new Enumerator(context, pending);
    }

    @Override
    public org.apache.flink.api.connector.source.SourceReader<RowRun, Split> createReader(SourceReaderContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        return new Reader(context);
    }

    @Override
    public SimpleVersionedSerializer<Split> getSplitSerializer() {
        return new SplitSerializer();
    }

    @Override
    public SimpleVersionedSerializer<List<Split>> getEnumeratorCheckpointSerializer() {
        return new PendingSerializer();
    }

    /** Runs on the JobManager's thread for the source. */
    private static final class Enumerator implements SplitEnumerator<Split, List<Split>> {
        private final SplitEnumeratorContext<Split> context;
        private final ArrayDeque<Split> pending;

        Enumerator(SplitEnumeratorContext<Split> context, Collection<Split> splits) {
            this.context = context;
            this.pending = new ArrayDeque<>(splits);
        }

        @Override
        public void handleSplitRequest(int subtask, String host) {
            if (!context.registeredReaders().containsKey(subtask)) {
                return;
            }
            Split next = pending.poll();
            if (next == null) {
                context.signalNoMoreSplits(subtask);
            } else {
                context.assignSplit(next, subtask);
            }
        }

        @Override
        public void addSplitsBack(List<Split> splits, int subtask) {
            for (int i = splits.size() - 1; i >= 0; i--) {
                pending.addFirst(splits.get(i));
            }
        }

        @Override
        public List<Split> snapshotState(long checkpoint) {
            return new ArrayList<>(pending);
        }

        @Override
        public void start() {}

        @Override
        public void addReader(int subtask) {}

        @Override
        public void close() {}
    }

    /** Runs on the task's thread. */
    private static final class Reader implements org.apache.flink.api.connector.source.SourceReader<RowRun, Split> {
        private final SourceReaderContext context;
        private final Queue<Split> splits = new ArrayDeque<>();
        private CompletableFuture<Void> available = new CompletableFuture<>();
        private boolean isOver;

        Reader(SourceReaderContext context) {
            this.context = context;
        }

        @Override
        public void start() {
            context.sendSplitRequest();
        }

        @Override
        public InputStatus pollNext(ReaderOutput<RowRun> output) {
            Split next = splits.poll();
            if (next != null) {
                // The tasks behind this one read the run before the call returns.
                output.collect(next.run());
                context.metricGroup()
                        .getIOMetricGroup()
                        .getNumRecordsInCounter()
                        .inc();
                context.sendSplitRequest();
                return InputStatus.MORE_AVAILABLE;
            }
            if (isOver) {
                return InputStatus.END_OF_INPUT;
            }
            if (available.isDone()) {
                available = new CompletableFuture<>();
            }
            return InputStatus.NOTHING_AVAILABLE;
        }

        @Override
        public List<Split> snapshotState(long checkpoint) {
            return new ArrayList<>(splits);
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return available;
        }

        @Override
        public void addSplits(List<Split> added) {
            splits.addAll(added);
            available.complete(null);
        }

        @Override
        public void notifyNoMoreSplits() {
            isOver = true;
            available.complete(null);
        }

        @Override
        public void close() {}
    }

    /** Version 1: the run. */
    private static final class SplitSerializer implements SimpleVersionedSerializer<Split> {
        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(Split split) throws IOException {
            DataOutputSerializer out = new DataOutputSerializer(256);
            RowRunSerializer.INSTANCE.serialize(split.run(), out);
            return out.getCopyOfBuffer();
        }

        @Override
        public Split deserialize(int version, byte[] serialized) throws IOException {
            require(version);
            return new Split(RowRunSerializer.INSTANCE.deserialize(new DataInputDeserializer(serialized)));
        }
    }

    /** Version 1: number of runs, runs. */
    private static final class PendingSerializer implements SimpleVersionedSerializer<List<Split>> {
        @Override
        public int getVersion() {
            return VERSION;
        }

        @Override
        public byte[] serialize(List<Split> pending) throws IOException {
            DataOutputSerializer out = new DataOutputSerializer(4096);
            out.writeInt(pending.size());
            for (Split split : pending) {
                RowRunSerializer.INSTANCE.serialize(split.run(), out);
            }
            return out.getCopyOfBuffer();
        }

        @Override
        public List<Split> deserialize(int version, byte[] serialized) throws IOException {
            require(version);
            DataInputDeserializer in = new DataInputDeserializer(serialized);
            List<Split> pending = new ArrayList<>();
            for (int count = in.readInt(); count > 0; count--) {
                pending.add(new Split(RowRunSerializer.INSTANCE.deserialize(in)));
            }
            return pending;
        }
    }

    private static void require(int version) throws IOException {
        if (version != VERSION) {
            throw new IOException("the state of a row ingest has version " + version + ", this code reads " + VERSION);
        }
    }
}
