package dev.stoker.ingest.rows;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.connectors.dataset.sink.ChunkSink;
import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.PathBundleSerializer;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.pack.KeyCheckOperator;
import dev.stoker.ingest.pack.plan.BatchSettings;
import dev.stoker.ingest.pack.sync.TakenKeysOperator;
import dev.stoker.ingest.rows.pack.HashedRow;
import dev.stoker.ingest.rows.pack.HashedRowSerializer;
import dev.stoker.ingest.rows.pack.HeldRows;
import dev.stoker.ingest.rows.pack.PackRowsOperator;
import dev.stoker.ingest.rows.pack.PackRunsOperator;
import dev.stoker.ingest.rows.pack.ReadRowsOperator;
import dev.stoker.ingest.rows.pack.RowRefusals;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowRunSerializer;
import dev.stoker.ingest.rows.read.RowRunSource;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.schemas.order.KeyHash;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.Collector;

/**
 * The job's graph. A run is a range of the source: row groups, blocks, or parts of files.
 *
 * <pre>
 * order shuffled: runs (p) ── read rows (p) ──┬── sort by hash of the key ── pack (p) ── commit (1)
 *                 keys of the dataset (p) ────┘
 *
 * order listed:   runs (p) ── pack (p) ──┬── commit (1)
 *                               keys └── sort by hash ── check (p) ──┘
 * </pre>
 *
 * <p>In the order shuffled, the rows that {@link HeldRows} keeps are sorted without their values.
 *
 * <p>Building it reads and writes nothing.
 *
 * @param plan of the ingest
 */
public record RowIngestGraph(RowIngestPlan plan) {
    /** Flink assigns keys to tasks in groups. This number per task gives all tasks about the same share. */
    private static final int KEY_GROUPS_PER_TASK = 64;

    /** Adds the job to an environment, and sets the Flink options that it needs. */
    public void addTo(StreamExecutionEnvironment env) {
        BatchSettings.apply(env);
        int parallelism = parallelism(env);
        DataStream<RowRun> source = env.fromSource(
                        new RowRunSource(plan.runs()), WatermarkStrategy.noWatermarks(), "runs", RowRunSerializer.TYPE)
                .uid("runs")
                .setParallelism(parallelism);
        ChunkSink.addTo(
                plan.order() instanceof WalkOrder.Listed ? listed(env, source) : shuffled(env, source), plan.run());
    }

    private int parallelism(StreamExecutionEnvironment env) {
        return plan.parallelism() == 0 ? env.getParallelism() : plan.parallelism();
    }

    private DataStream<PackReport> shuffled(StreamExecutionEnvironment env, DataStream<RowRun> source) {
        RowWork work = plan.work();
        int parallelism = parallelism(env);
        DataStream<HashedRow> rows = source.transform("read", HashedRowSerializer.TYPE, new ReadRowsOperator(work))
                .uid("read")
                .setParallelism(parallelism);
        if (plan.taken() > 0) {
            long seed = work.seed();
            rows = rows.union(takenKeys(env, seed)
                    .flatMap((PathBundle bundle, Collector<HashedRow> out) -> {
                        List<FileEntry> keys = new ArrayList<>();
                        FileEntries.decode(bundle, keys);
                        keys.forEach(key -> out.collect(HashedRow.taken(
                                KeyHash.hash(seed, key.key()), key.key(), key.size(), (int) key.modifiedMs())));
                    })
                    .returns(HashedRowSerializer.TYPE)
                    .name("taken")
                    .uid("taken")
                    .setParallelism(parallelism));
        }
        return spread(
                env,
                rows.keyBy(HashedRow::hash, Types.LONG)
                        .transform(
                                "pack",
                                PackReportSerializer.TYPE,
                                new PackRowsOperator(work, RowRefusals.of(work.mapping(), plan.runs())))
                        .uid("pack"));
    }

    private DataStream<PackReport> listed(StreamExecutionEnvironment env, DataStream<RowRun> source) {
        RowWork work = plan.work();
        int parallelism = parallelism(env);
        // Positions in the source are unique; only an append can meet them again.
        boolean isChecking = plan.taken() > 0 || !work.mapping().key().isEmpty();
        SingleOutputStreamOperator<PackReport> packed = source.transform(
                        "pack", PackReportSerializer.TYPE, new PackRunsOperator(work, isChecking))
                .uid("pack")
                .setParallelism(parallelism);
        if (!isChecking) {
            return packed;
        }
        DataStream<PathBundle> keys = packed.getSideOutput(PackRunsOperator.KEYS);
        DataStream<PathBundle> all = plan.taken() > 0 ? keys.union(takenKeys(env, 0)) : keys;
        return packed.union(spread(
                env,
                all.keyBy(PathBundle::bucketKey, Types.INT)
                        .transform(
                                "check keys",
                                PackReportSerializer.TYPE,
                                new KeyCheckOperator(RowRefusals.of(work.mapping(), plan.runs())))
                        .uid("check")));
    }

    private DataStream<PathBundle> takenKeys(StreamExecutionEnvironment env, long seed) {
        int parallelism = parallelism(env);
        return env.fromSequence(0, plan.taken() - 1)
                .name("chunks")
                .uid("chunks")
                .setParallelism(parallelism)
                .transform(
                        "keys",
                        PathBundleSerializer.TYPE,
                        new TakenKeysOperator(
                                plan.work().access(),
                                plan.run().target(),
                                plan.run().baseVersion(),
                                seed))
                .uid("keys")
                .setParallelism(parallelism);
    }

    private <T> DataStream<T> spread(StreamExecutionEnvironment env, SingleOutputStreamOperator<T> operator) {
        int parallelism = parallelism(env);
        int groups = Integer.highestOneBit(Math.max(2, parallelism) * KEY_GROUPS_PER_TASK);
        return operator.setParallelism(parallelism).setMaxParallelism(Math.max(parallelism, groups));
    }
}
