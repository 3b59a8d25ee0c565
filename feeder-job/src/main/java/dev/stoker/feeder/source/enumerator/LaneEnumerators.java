package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.registry.JobClaim;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.server.feed.GroupName;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/** Builds the enumerator of a feed. */
public final class LaneEnumerators {

    private LaneEnumerators() {}

    /**
     * Builds the enumerator.
     *
     * @param plan the feed
     * @param context Flink's context
     * @param state of the coordinator before this one; empty when the job starts without state
     */
    public static SplitEnumerator<LaneSplit, FeedEnumeratorState> create(
            FeedPlan plan, SplitEnumeratorContext<LaneSplit> context, Optional<FeedEnumeratorState> state)
            throws IOException {
        JobEnd end = new JobEnd(
                plan.epochs() == 0 ? OptionalLong.empty() : OptionalLong.of(plan.epochs()),
                plan.groups().stream()
                        .map(group -> new GroupName(group.stream(), group.name()))
                        .toList());
        FeedFiles files = new FeedFiles(
                plan, new JobClaim(plan.name(), context.metricGroup().getAllVariables()));
        return new LaneEnumerator(
                context,
                plan.streams().stream()
                        .map(stream -> new StreamLanes(stream.name(), stream.lanes()))
                        .toList(),
                new LaneMaps(System.currentTimeMillis(), files),
                end,
                Duration.ofMillis(plan.idleTimeoutMs()),
                state);
    }
}
