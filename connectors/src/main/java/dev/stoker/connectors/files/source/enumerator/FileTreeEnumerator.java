package dev.stoker.connectors.files.source.enumerator;

import dev.stoker.connectors.files.source.event.WalkEvent;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;

/** Assigns directories to readers until none is left. All methods run on the coordinator's thread. */
public final class FileTreeEnumerator implements SplitEnumerator<DirectorySplit, FileTreeState> {

    private final SplitEnumeratorContext<DirectorySplit> context;
    private final DirectoryAssigner assigner;
    private final Set<Integer> readers = new TreeSet<>();
    private final Set<Integer> finished = new TreeSet<>();

    /**
     * Starts a new walk.
     *
     * @param perReader directories that a reader has at a time
     */
    public FileTreeEnumerator(SplitEnumeratorContext<DirectorySplit> context, int perReader) {
        this(context, new DirectoryAssigner(perReader));
    }

    /** Continues a walk from a checkpoint. */
    public FileTreeEnumerator(SplitEnumeratorContext<DirectorySplit> context, int perReader, FileTreeState state) {
        this(context, new DirectoryAssigner(perReader, state));
    }

    private FileTreeEnumerator(SplitEnumeratorContext<DirectorySplit> context, DirectoryAssigner assigner) {
        this.context = context;
        this.assigner = assigner;
    }

    @Override
    public void start() {}

    @Override
    public void addReader(int subtask) {
        readers.add(subtask);
        finished.remove(subtask);
        assign();
    }

    @Override
    public void handleSplitRequest(int subtask, String host) {
        assign();
    }

    @Override
    public void handleSourceEvent(int subtask, SourceEvent event) {
        if (!(event instanceof WalkEvent walk)) {
            throw new IllegalArgumentException("Unexpected event of " + event.getClass() + " from reader " + subtask);
        }
        walk.parts().forEach(part -> assigner.listed(subtask, part));
        assign();
    }

    @Override
    public void addSplitsBack(List<DirectorySplit> splits, int subtask) {
        assigner.lost(subtask, splits);
        readers.remove(subtask);
        finished.remove(subtask);
        readers.retainAll(context.registeredReaders().keySet());
        assign();
    }

    private void assign() {
        for (int reader : readers) {
            if (finished.contains(reader) || !context.registeredReaders().containsKey(reader)) {
                continue;
            }
            List<DirectorySplit> splits = assigner.take(reader);
            if (!splits.isEmpty()) {
                context.assignSplits(new SplitsAssignment<>(Map.of(reader, splits)));
            }
        }
        if (assigner.isDone()) {
            for (int reader : readers) {
                if (context.registeredReaders().containsKey(reader) && finished.add(reader)) {
                    context.signalNoMoreSplits(reader);
                }
            }
        }
    }

    @Override
    public FileTreeState snapshotState(long checkpointId) {
        return assigner.state();
    }

    @Override
    public void close() {}
}
