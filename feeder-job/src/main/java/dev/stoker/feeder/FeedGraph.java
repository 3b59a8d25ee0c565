package dev.stoker.feeder;

import dev.stoker.feeder.ledger.LedgerSink;
import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.plan.FlinkSettings;
import dev.stoker.feeder.source.LaneSource;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * The graph of a feed: lanes, forward-connected to the ledger, so that every subtask is its own failover region.
 * Building it reads and writes nothing.
 *
 * @param plan the feed
 */
public record FeedGraph(FeedPlan plan) {

    /** Adds the feed to an environment, and sets what it requires of Flink. */
    public void addTo(StreamExecutionEnvironment env) {
        FlinkSettings.apply(env, plan.checkpointInterval(), plan.parallelism(env.getParallelism()));
        env.fromSource(
                        new LaneSource(plan),
                        WatermarkStrategy.noWatermarks(),
                        "lanes",
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO)
                .uid("lanes")
                .sinkTo(new LedgerSink(plan.ledger(), plan.id()))
                .name("ledger")
                .uid("ledger");
    }
}
