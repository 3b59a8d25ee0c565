package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.CommitRefusedException;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.PartIds;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import dev.stoker.metadata.chunks.UsedClasses;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.connector.sink2.CommittableSummary;
import org.apache.flink.streaming.api.connector.sink2.CommittableWithLineage;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Combines the reports of all writers of a sink into committables: one for each checkpoint or savepoint with chunks,
 * and without any of them one at the end of the input. Commits nothing if no writer had a record. Has no state, because
 * it emits all chunks before each barrier. Runs on the task's thread, in one task.
 */
public final class GatheringOperator extends AbstractStreamOperator<CommittableMessage<IngestCommittable>>
        implements OneInputStreamOperator<CommittableMessage<PackReport>, CommittableMessage<IngestCommittable>>,
                BoundedOneInput {

    private static final long serialVersionUID = 1;

    private final IngestRun run;
    private final SampleKeys keys;
    private transient GatheringWriter gathering;
    private transient PartGathering part;
    private transient boolean isDivided;
    /** The last checkpoint; of a whole ingest, the one of its reports. */
    private transient long checkpoint;

    /**
     * @param run the ingest. If it replaces all samples, an input without records is an error
     * @param keys the origin of the keys
     */
    public GatheringOperator(IngestRun run, SampleKeys keys) {
        this.run = run;
        this.keys = keys;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        checkpoint = context.getRestoredCheckpointId().orElse(0);
        isDivided = context.isRestored();
    }

    @Override
    public void open() throws Exception {
        super.open();
        Configuration job = getContainingTask().getEnvironment().getJobConfiguration();
        // Flink switches checkpoints off in batch mode.
        isDivided |= CheckpointingOptions.isCheckpointingEnabled(job);
        if (isDivided) {
            requireStream(CheckpointingOptions.getCheckpointingMode(job));
        }
        part = new PartGathering();
        gathering = new GatheringWriter(new LeftOutFile(run.store(), run.target(), run.ingest()));
    }

    private void requireStream(CheckpointingMode mode) {
        String problem = "";
        if (run.effect() == IngestRun.Effect.REPLACE) {
            problem = "replaces all samples";
        } else if (keys == SampleKeys.GIVEN) {
            problem = "writes given keys, which it can only compare with each other at the end of the input";
        }
        if (!problem.isEmpty()) {
            throw new SuppressRestartsException(new CommitRefusedException("The sink of " + run.target() + " " + problem
                    + "; run the job in batch mode, or without checkpoints"));
        }
        if (mode != CheckpointingMode.EXACTLY_ONCE) {
            throw new SuppressRestartsException(new CommitRefusedException("The sink of " + run.target()
                    + " commits every record exactly once; set execution.checkpointing.mode to EXACTLY_ONCE"));
        }
    }

    @Override
    public void processElement(StreamRecord<CommittableMessage<PackReport>> element) throws IOException {
        if (element.getValue() instanceof CommittableWithLineage<PackReport> report) {
            part.add(report.getCommittable());
            if (!isDivided) {
                checkpoint = report.getCheckpointId();
                gathering.add(report.getCommittable());
            }
        }
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        if (!isDivided) {
            // A savepoint of a job without checkpoints.
            requireStream(CheckpointingMode.EXACTLY_ONCE);
            isDivided = true;
        }
        checkpoint = checkpointId;
        if (!part.isEmpty()) {
            emit(part.take(new IngestCommittable.Part(PartIds.of(run.ingest(), checkpointId), false)));
        }
    }

    @Override
    public void endInput() throws IOException {
        if (isDivided) {
            // The final checkpoint commits it. Without chunks, it still ends the lease.
            checkpoint++;
            emit(part.take(new IngestCommittable.Part(PartIds.of(run.ingest(), checkpoint), true)));
            return;
        }
        Collection<IngestCommittable> gathered = gathering.prepareCommit();
        for (IngestCommittable committable : gathered) {
            if (!committable.chunks().isEmpty()) {
                emit(committable);
            } else if (run.effect() == IngestRun.Effect.REPLACE) {
                throw new SuppressRestartsException(new CommitRefusedException(
                        "There are no samples to replace the samples of " + run.target() + "; nothing is committed"));
            }
        }
    }

    private void emit(IngestCommittable committable) {
        output.collect(new StreamRecord<>(new CommittableSummary<>(0, 1, checkpoint, 1, 0)));
        output.collect(new StreamRecord<>(new CommittableWithLineage<>(committable, checkpoint, 0)));
    }

    @Override
    public void close() throws Exception {
        // Flink closes a task that failed to open, too.
        if (gathering != null) {
            gathering.close();
        }
        super.close();
    }

    /** Collects the reports between two checkpoints of a stream. For one thread. */
    private static final class PartGathering {

        private final List<PackReport.Chunk> chunks = new ArrayList<>();
        private UsedClasses classes = new UsedClasses();

        void add(PackReport report) {
            if (report instanceof PackReport.Chunk chunk) {
                chunks.add(chunk);
            } else if (report instanceof PackReport.Done done) {
                classes.add(done.classes());
            }
        }

        boolean isEmpty() {
            return chunks.isEmpty();
        }

        /** Returns the chunks and classes since the last call. */
        IngestCommittable take(IngestCommittable.Part part) {
            IngestCommittable taken = new IngestCommittable(
                    part,
                    chunks.stream()
                            .sorted(GatheringWriter.ORDER)
                            .map(PackReport.Chunk::chunk)
                            .toList(),
                    List.of(),
                    classes.names(),
                    Map.of(),
                    Map.of());
            chunks.clear();
            classes = new UsedClasses();
            return taken;
        }
    }
}
