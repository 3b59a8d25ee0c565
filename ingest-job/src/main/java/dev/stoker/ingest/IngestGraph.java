package dev.stoker.ingest;

import dev.stoker.connectors.dataset.IngestRun;
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
import dev.stoker.ingest.pack.PackPlan;
import dev.stoker.ingest.pack.RehashOperator;
import dev.stoker.ingest.pack.TakenKeysOperator;
import java.util.OptionalLong;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The job's graph: walk, sort, pack, commit.
 *
 * <pre>
 * walk (p) ── sort by bucket of the hash ── pack (p) ──┐
 * keys of the dataset (p, for an append) ──┘           ├── commit (1)
 *                                                      │
 * order listed: sort by directory ── pack (1) ─────────┤
 *               and for an append a key check (p) ─────┘
 * </pre>
 *
 * @param plan for the packing tasks
 * @param run the ingest to commit
 * @param parallelism p
 * @param limit of the walk
 * @param taken chunks of the dataset whose keys must not be used again; 0 for none
 */
record IngestGraph(PackPlan plan, IngestRun run, int parallelism, OptionalLong limit, long taken) {

    /** Flink assigns keys to tasks in groups. This number per task gives all tasks about the same share. */
    private static final int KEY_GROUPS_PER_TASK = 64;

    /**
     * Directories of another file system that one task lists at a time: each listing is a wait with hardly any work.
     */
    private static final int LISTINGS = 16;

    void addTo(StreamExecutionEnvironment env) {
        DataStream<PathBundle> files = walk(env);
        if (plan.order() instanceof WalkOrder.Listed) {
            DataStream<PackReport> packed = files.keyBy(new ListedKey.Selector(), ListedKeySerializer.TYPE)
                    .transform("pack", PackReportSerializer.TYPE, new PackOperator(plan))
                    .uid("pack")
                    .setParallelism(1)
                    .setMaxParallelism(1);
            ChunkSink.addTo(taken == 0 ? packed : packed.union(check(env, files)), run);
            return;
        }
        long seed = ((WalkOrder.Shuffled) plan.order()).seed();
        DataStream<PathBundle> all = taken == 0 ? files : files.union(takenKeys(env, seed));
        ChunkSink.addTo(
                spread(all.keyBy(PathBundle::bucketKey, Types.INT)
                        .transform("pack", PackReportSerializer.TYPE, new PackOperator(plan))
                        .uid("pack")),
                run);
    }

    private DataStream<PathBundle> walk(StreamExecutionEnvironment env) {
        FileTree tree = plan.tree();
        boolean isLimited = limit.isPresent();
        FileTreeSource.Builder source = FileTreeSource.builder(tree)
                .order(plan.order())
                .threads(tree.isRemote() ? LISTINGS : plan.threads());
        limit.ifPresent(source::limit);
        int walkers = isLimited ? 1 : parallelism;
        return env.fromSource(source.build(), WatermarkStrategy.noWatermarks(), "walk", PathBundleSerializer.TYPE)
                .uid("walk")
                .setParallelism(walkers)
                .map(new ListedCounter(plan.ingest()))
                .returns(PathBundleSerializer.TYPE)
                .name("count")
                .uid("count")
                .setParallelism(walkers);
    }

    private DataStream<PathBundle> takenKeys(StreamExecutionEnvironment env, long seed) {
        return env.fromSequence(0, taken - 1)
                .name("chunks")
                .uid("chunks")
                .setParallelism(parallelism)
                .transform(
                        "keys",
                        PathBundleSerializer.TYPE,
                        new TakenKeysOperator(plan.access(), run.target(), run.baseVersion(), seed))
                .uid("keys")
                .setParallelism(parallelism);
    }

    private DataStream<PackReport> check(StreamExecutionEnvironment env, DataStream<PathBundle> files) {
        DataStream<PathBundle> hashed = files.transform("rehash", PathBundleSerializer.TYPE, new RehashOperator())
                .uid("rehash")
                .setParallelism(parallelism);
        return spread(hashed.union(takenKeys(env, 0))
                .keyBy(PathBundle::bucketKey, Types.INT)
                .transform("check keys", PackReportSerializer.TYPE, new KeyCheckOperator())
                .uid("check"));
    }

    private <T> DataStream<T> spread(SingleOutputStreamOperator<T> operator) {
        int groups = Integer.highestOneBit(Math.max(2, parallelism) * KEY_GROUPS_PER_TASK);
        return operator.setParallelism(parallelism)
                .setMaxParallelism(Math.max(parallelism, Math.min(PathBundle.BUCKETS, groups)));
    }
}
