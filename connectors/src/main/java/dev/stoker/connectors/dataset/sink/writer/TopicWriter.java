package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.PartIds;
import dev.stoker.connectors.dataset.TooManyDeadLettersException;
import dev.stoker.connectors.dataset.TopicReport;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.dataset.sink.committer.TopicCommittable;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;
import org.apache.flink.api.connector.sink2.StatefulSinkWriter;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Makes one version of all reports between two checkpoints. If they contain no sample, it makes none, and the next
 * version includes their position and dead letters. If later records change the samples of earlier ones, it makes one
 * version of each report, because a version cannot both add and remove a sample. There is one such writer whatever the
 * parallelism of the packing tasks. Runs on the task's thread.
 */
public final class TopicWriter
        implements CommittingSinkWriter<TopicReport, TopicCommittable>,
                StatefulSinkWriter<TopicReport, TopicSinkState> {

    private final TopicRun run;
    private final TreeMap<Integer, Long> after;
    private TreeMap<Integer, Long> before;
    private long sinceVersion;
    private long deadLetters;
    private long number;

    private List<ChunkSummary> chunks = new ArrayList<>();
    private List<String> removed = new ArrayList<>();
    private UsedClasses classes = new UsedClasses();
    private List<TopicCommittable> ready = new ArrayList<>();
    private long checkpoint;

    public TopicWriter(TopicRun run, TopicSinkState state) {
        this.run = run;
        this.before = state.before();
        this.after = new TreeMap<>(state.after());
        this.sinceVersion = state.sinceVersion();
        this.deadLetters = state.deadLetters();
        this.number = state.number();
    }

    public static TopicWriter begin(TopicRun run) {
        return new TopicWriter(
                run, new TopicSinkState(new TreeMap<>(run.committed().next()), new TreeMap<>(run.begin()), 0, 0, 0));
    }

    @Override
    public void write(TopicReport report, Context context) {
        chunks.addAll(report.chunks());
        removed.addAll(report.removed());
        classes.add(report.classes());
        report.next().forEach((partition, offset) -> after.merge(partition, offset, Math::max));
        sinceVersion += report.deadLetters();
        deadLetters += report.deadLetters();
        checkpoint = Math.max(checkpoint, report.checkpoint());
        if (deadLetters > run.limits().maxDeadLetters()) {
            throw new SuppressRestartsException(
                    TooManyDeadLettersException.of(deadLetters, run.limits().maxDeadLetters()));
        }
        if (run.limits().keys() == TopicRun.Keys.CHANGES) {
            finish();
        }
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public Collection<TopicCommittable> prepareCommit() {
        finish();
        List<TopicCommittable> all = ready;
        ready = new ArrayList<>();
        return all;
    }

    /** Ends the interval: makes a version of its chunks and removals, if it has any. */
    private void finish() {
        if (chunks.isEmpty() && removed.isEmpty()) {
            return;
        }
        // A failed checkpoint has used a number, perhaps this one, so numbers only increase.
        number = Math.max(checkpoint, number + 1);
        TopicCommittable committable = new TopicCommittable(
                PartIds.of(run.run(), number),
                chunks,
                removed,
                classes.names(),
                before,
                new TreeMap<>(after),
                sinceVersion);
        before = new TreeMap<>(after);
        sinceVersion = 0;
        chunks = new ArrayList<>();
        removed = new ArrayList<>();
        classes = new UsedClasses();
        ready.add(committable);
    }

    @Override
    public List<TopicSinkState> snapshotState(long checkpointId) {
        return List.of(new TopicSinkState(before, new TreeMap<>(after), sinceVersion, deadLetters, number));
    }

    @Override
    public void close() {}
}
