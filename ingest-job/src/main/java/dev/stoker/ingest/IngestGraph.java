package dev.stoker.ingest;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.connectors.dataset.sink.ChunkSink;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.ListedKey;
import dev.stoker.connectors.files.ListedKeySerializer;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.PathBundleSerializer;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.connectors.files.source.FileTreeSource;
import dev.stoker.ingest.pack.KeyCheckOperator;
import dev.stoker.ingest.pack.ListedCounter;
import dev.stoker.ingest.pack.PackOperator;
import dev.stoker.ingest.pack.RehashOperator;
import dev.stoker.ingest.pack.keys.KeyRefusals;
import dev.stoker.ingest.pack.plan.BatchSettings;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.sync.TakenKeysOperator;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The graph of an ingest: walk, sort, pack, commit. Building it reads and writes nothing.
 *
 * <pre>
 * walk (p) ── sort by bucket of the hash ── pack (p) ──┐
 * keys of the dataset (p, for an append) ──┘           ├── commit (1)
 *                                                      │
 * order listed: sort by directory ── pack (1) ─────────┤
 *               and for an append a key check (p) ─────┘
 * </pre>
 *
 * @param plan of the ingest
 */
record IngestGraph(IngestPlan plan) {

    /** Flink assigns keys to tasks in groups. This number per task gives all tasks about the same share. */
    private static final int KEY_GROUPS_PER_TASK = 64;

    /**
     * Directories of another file system that one task lists at a time: each listing is a wait with hardly any work.
     */
    private static final int LISTINGS = 16;

    /** Adds the job to an environment, and sets what it requires of Flink. */
    void addTo(StreamExecutionEnvironment env) {
        BatchSettings.apply(env);
        PackPlan pack = plan.pack();
        boolean hasTaken = plan.reading().taken() > 0;
        DataStream<PathBundle> files = walk(env);
        if (pack.order() instanceof WalkOrder.Listed) {
            DataStream<PackReport> packed = files.keyBy(new ListedKey.Selector(), ListedKeySerializer.TYPE)
                    .transform("pack", PackReportSerializer.TYPE, new PackOperator(pack))
                    .uid("pack")
                    .setParallelism(1)
                    .setMaxParallelism(1);
            ChunkSink.addTo(hasTaken ? packed.union(check(env, files)) : packed, plan.run());
            return;
        }
        long seed = ((WalkOrder.Shuffled) pack.order()).seed();
        DataStream<PathBundle> all = hasTaken ? files.union(takenKeys(env, seed)) : files;
        ChunkSink.addTo(
                spread(all.keyBy(PathBundle::bucketKey, Types.INT)
                        .transform("pack", PackReportSerializer.TYPE, new PackOperator(pack))
                        .uid("pack")),
                plan.run());
    }

    private int parallelism(StreamExecutionEnvironment env) {
        int wanted = plan.reading().parallelism();
        return wanted == 0 ? env.getParallelism() : wanted;
    }

    private DataStream<PathBundle> walk(StreamExecutionEnvironment env) {
        PackPlan pack = plan.pack();
        FileTree tree = pack.tree();
        boolean isLimited = plan.reading().limit() != Long.MAX_VALUE;
        FileTreeSource source = FileTreeSource.builder(tree)
                .order(pack.order())
                .threads(tree.isRemote() ? LISTINGS : pack.threads())
                .limit(plan.reading().limit())
                .build();
        int walkers = isLimited ? 1 : parallelism(env);
        return env.fromSource(source, WatermarkStrategy.noWatermarks(), "walk", PathBundleSerializer.TYPE)
                .uid("walk")
                .setParallelism(walkers)
                .map(new ListedCounter(pack.ingest()))
                .returns(PathBundleSerializer.TYPE)
                .name("count")
                .uid("count")
                .setParallelism(walkers);
    }

    private DataStream<PathBundle> takenKeys(StreamExecutionEnvironment env, long seed) {
        return env.fromSequence(0, plan.reading().taken() - 1)
                .name("chunks")
                .uid("chunks")
                .setParallelism(parallelism(env))
                .transform(
                        "keys",
                        PathBundleSerializer.TYPE,
                        TakenKeysOperator.of(plan.pack(), plan.run().baseVersion(), seed))
                .uid("keys")
                .setParallelism(parallelism(env));
    }

    private DataStream<PackReport> check(StreamExecutionEnvironment env, DataStream<PathBundle> files) {
        DataStream<PathBundle> hashed = files.transform("rehash", PathBundleSerializer.TYPE, new RehashOperator())
                .uid("rehash")
                .setParallelism(parallelism(env));
        return spread(hashed.union(takenKeys(env, 0))
                .keyBy(PathBundle::bucketKey, Types.INT)
                .transform("check keys", PackReportSerializer.TYPE, new KeyCheckOperator(KeyRefusals.OF_FILES))
                .uid("check"));
    }

    private <T> DataStream<T> spread(SingleOutputStreamOperator<T> operator) {
        int parallelism = parallelism(operator.getExecutionEnvironment());
        int groups = Integer.highestOneBit(Math.max(2, parallelism) * KEY_GROUPS_PER_TASK);
        return operator.setParallelism(parallelism)
                .setMaxParallelism(Math.max(parallelism, Math.min(PathBundle.BUCKETS, groups)));
    }
}
