package dev.stoker.export;

import dev.stoker.export.task.CommitOperator;
import dev.stoker.export.task.ExportOperator;
import dev.stoker.export.task.ShardReports;
import dev.stoker.ingest.pack.plan.BatchSettings;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;

/**
 * The job's graph.
 *
 * <pre>
 * numbers of shards (p) ── export (p) ── commit (1)
 * </pre>
 *
 * <p>Building it reads and writes nothing.
 *
 * @param plan of the export
 */
public record ExportGraph(ExportPlan plan) {
    /** Adds the job to an environment, and configures Flink for it. */
    public void addTo(StreamExecutionEnvironment env) {
        BatchSettings.apply(env);
        int shards = plan.work().shards().size();
        int wanted = plan.parallelism() == 0 ? env.getParallelism() : plan.parallelism();
        int parallelism = Math.min(wanted, shards);
        env.fromSequence(0, shards - 1L)
                .name("shards")
                .uid("shards")
                .setParallelism(parallelism)
                .transform("export", ShardReports.TYPE, new ExportOperator(plan.work()))
                .uid("export")
                .setParallelism(parallelism)
                .transform("commit", ShardReports.TYPE, new CommitOperator(plan.work(), plan.datasetId()))
                .uid("commit")
                .setParallelism(1)
                .sinkTo(new DiscardingSink<>())
                .uid("end")
                .setParallelism(1);
    }
}
