package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.server.feed.GroupName;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;

/** The enumerator of a feed that publishes nothing and has a clock of the caller's choice. */
public final class SimulatedEnumerators {
    private SimulatedEnumerators() {}

    /**
     * Builds the enumerator.
     *
     * @param startMs when the coordinator started
     * @param published is told the addresses that trainers would find
     * @param isGoingOn whether an earlier coordinator has published any
     */
    public static SplitEnumerator<LaneSplit, FeedEnumeratorState> create(
            FeedPlan plan,
            SplitEnumeratorContext<LaneSplit> context,
            Optional<FeedEnumeratorState> state,
            long startMs,
            Consumer<List<String>> published,
            BooleanSupplier isGoingOn) {
        JobEnd end = new JobEnd(
                OptionalLong.of(plan.epochs()),
                plan.groups().stream()
                        .map(group -> new GroupName(group.stream(), group.name()))
                        .toList());
        LaneMaps.Hint hint = new LaneMaps.Hint() {
            @Override
            public void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete) {
                published.accept(maps.values().iterator().next().addresses());
            }

            @Override
            public boolean isGoingOn() {
                return isGoingOn.getAsBoolean();
            }

            @Override
            public boolean takeStopRequest() {
                return false;
            }

            @Override
            public void withdraw(boolean ended) {
                // Nothing was published.
            }
        };
        return new LaneEnumerator(
                context,
                plan.streams().stream()
                        .map(stream -> new StreamLanes(stream.name(), stream.lanes()))
                        .toList(),
                new LaneMaps(startMs, hint),
                end,
                Duration.ofMillis(plan.idleTimeoutMs()),
                state);
    }
}
