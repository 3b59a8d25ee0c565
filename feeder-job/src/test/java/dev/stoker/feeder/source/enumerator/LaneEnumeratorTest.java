package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.registry.FeedLock;
import dev.stoker.feeder.registry.FeedRunningException;
import dev.stoker.feeder.source.event.ProgressEvent;
import dev.stoker.feeder.source.event.ServerEvent;
import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.function.BiConsumer;
import org.apache.flink.api.connector.source.ReaderInfo;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.connector.source.SplitsAssignment;
import org.apache.flink.metrics.groups.SplitEnumeratorMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests when the coordinator ends a feed, on a virtual clock. */
class LaneEnumeratorTest {
    private static final List<StreamLanes> STREAMS = List.of(new StreamLanes("train", 1), new StreamLanes("val", 1));

    private final Coordinator context = new Coordinator();
    private long nowMs = 1_000_000;

    private boolean goesOn;
    private boolean released;
    private @Nullable FeedRunningException taken;
    private final List<String> written = new ArrayList<>();

    private LaneEnumerator enumerator(Optional<FeedEnumeratorState> state) {
        LaneEnumerator enumerator = new LaneEnumerator(
                context,
                STREAMS,
                new LaneMaps(1, new NoHint()),
                new JobEnd(OptionalLong.of(1), List.of()),
                Duration.ofHours(1),
                state);
        enumerator.start();
        enumerator.addReader(0);
        enumerator.handleSourceEvent(0, server("localhost:1", 100, 0));
        return enumerator;
    }

    private static ServerEvent server(String address, long startedMs, long mapsMadeMs) {
        return new ServerEvent(address, "localhost", null, "", "", startedMs, mapsMadeMs);
    }

    private static ConsumerProgress progress(String stream, long epochs) {
        return new ConsumerProgress(new Identity(stream, "g", 1, 0, 1, 0, 1, 0), epochs);
    }

    private void tell(LaneEnumerator enumerator, long idleSinceMs, ConsumerProgress... progress) {
        enumerator.handleSourceEvent(0, ProgressEvent.of(List.of(progress), List.of(), idleSinceMs, false));
    }

    /** Returns how many seconds the feed continues to serve, up to a maximum. */
    private int secondsServed(int most) {
        int seconds = 0;
        while (!context.finished && seconds < most) {
            nowMs += 1000;
            context.tick.accept(nowMs, null);
            seconds++;
        }
        return seconds;
    }

    @Test
    void endsSoonAfterEveryoneHasFinishedWhetherConnectedOrNot() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 0), progress("val", 1));
        assertThat(secondsServed(1000)).isEqualTo(1000);
        tell(enumerator, 0, progress("train", 1));
        assertThat(secondsServed(1000)).isEqualTo(2);
    }

    @Test
    void waitsForAnUnreadStreamWhileATrainerIsConnectedAndAMinuteLonger() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("val", 1));
        assertThat(secondsServed(1000)).isEqualTo(1000);
        tell(enumerator, nowMs);
        assertThat(secondsServed(1000)).isBetween(60, 62);
    }

    @Test
    void waitsForTrainersThatConnectAgainAfterARestore() {
        FeedEnumeratorState before =
                new FeedEnumeratorState(List.of(), List.of(progress("train", 1), progress("val", 1)));
        LaneEnumerator enumerator = enumerator(Optional.of(before));
        assertThat(secondsServed(5)).isEqualTo(5);
        // It had subscribed after the checkpoint.
        tell(enumerator, 0, new ConsumerProgress(new Identity("train", "late", 1, 0, 1, 0, 1, 0), 0));
        assertThat(secondsServed(1000)).isEqualTo(1000);
        tell(enumerator, 0, new ConsumerProgress(new Identity("train", "late", 1, 0, 1, 0, 1, 0), 1));
        assertThat(secondsServed(1000)).isLessThanOrEqualTo(12);
    }

    @Test
    void waitsForTrainersThatReadBeforeACoordinatorWhichLeftNoCheckpoint() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        // The server has lane maps of an earlier coordinator.
        enumerator.handleSourceEvent(0, server("localhost:1", 100, 900));
        tell(enumerator, 0, progress("train", 1), progress("val", 1));
        assertThat(secondsServed(100)).isBetween(40, 43);
    }

    @Test
    void waitsForTrainersThatConnectAgainAfterAStartWithoutState() {
        goesOn = true;
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 1), progress("val", 1));
        assertThat(secondsServed(30)).isEqualTo(30);
        tell(enumerator, 0, new ConsumerProgress(new Identity("train", "late", 1, 0, 1, 0, 1, 0), 0));
        assertThat(secondsServed(1000)).isEqualTo(1000);
        tell(enumerator, 0, new ConsumerProgress(new Identity("train", "late", 1, 0, 1, 0, 1, 0), 1));
        assertThat(secondsServed(1000)).isEqualTo(2);
    }

    @Test
    void waitsAMinuteForTheRanksThatANewerRunLacks() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("val", 1), rank(0, 1, 1), rank(1, 2, 1));
        assertThat(secondsServed(30)).isEqualTo(30);
        // The whole group was started again, and this rank was slow.
        tell(enumerator, 0, rank(0, 2, 0));
        assertThat(secondsServed(1000)).isEqualTo(1000);
        tell(enumerator, 0, rank(0, 2, 1));
        assertThat(secondsServed(1000)).isEqualTo(2);
    }

    @Test
    void endsAMinuteAfterRanksHaveFinishedInDifferentRuns() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("val", 1), rank(0, 1, 0), rank(1, 2, 1));
        assertThat(secondsServed(1000)).as("rank 0 reads in the older run").isEqualTo(1000);
        tell(enumerator, 0, rank(0, 1, 1));
        assertThat(secondsServed(1000)).isBetween(60, 62);
    }

    private static ConsumerProgress rank(int rank, long run, long epochs) {
        return new ConsumerProgress(new Identity("train", "g", run, rank, 2, 0, 1, 0), epochs);
    }

    @Test
    void waitsForAReaderThatIsAway() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 1), progress("val", 1));
        enumerator.addSplitsBack(List.of(LaneSplit.of("train", 0)), 0);
        assertThat(secondsServed(100)).isEqualTo(100);
        enumerator.handleSourceEvent(0, server("localhost:1", 100, 0));
        assertThat(secondsServed(100)).isEqualTo(2);
    }

    @Test
    void waitsForReceiptsThatAreOnTheirWay() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        ConsumerProgress[] all = {progress("train", 1), progress("val", 1)};
        List<GroupName> owing = List.of(new GroupName("train", "g"));
        enumerator.handleSourceEvent(0, ProgressEvent.of(List.of(all), owing, 0, false));
        assertThat(secondsServed(100)).isEqualTo(100);
        tell(enumerator, 0, all);
        assertThat(secondsServed(100)).isEqualTo(2);
    }

    @Test
    void waitsForTrainersOfAServerWhoseReaderWentElsewhere() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 1), progress("val", 1));
        enumerator.addSplitsBack(List.of(LaneSplit.of("train", 0)), 0);
        enumerator.handleSourceEvent(0, server("localhost:2", 100, 0));
        assertThat(secondsServed(35)).isEqualTo(35);
        // Its server has ended, which made its trainers connect here.
        tell(enumerator, 0, new ConsumerProgress(new Identity("train", "late", 1, 0, 1, 0, 1, 0), 0));
        assertThat(secondsServed(100)).isEqualTo(100);
        tell(enumerator, 0, new ConsumerProgress(new Identity("train", "late", 1, 0, 1, 0, 1, 0), 1));
        assertThat(secondsServed(100)).isEqualTo(2);
    }

    /** Receipts of a process that was killed come again over other connections. */
    @Test
    void waitsForTrainersOfAServerThatWasRestartedAtItsAddress() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 1), progress("val", 1));
        enumerator.addSplitsBack(List.of(LaneSplit.of("train", 0)), 0);
        enumerator.handleSourceEvent(0, server("localhost:1", 200, 0));
        assertThat(secondsServed(100)).isBetween(39, 42);
    }

    @Test
    void itsCheckpointHoldsWhoHasSubscribed() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 0), progress("val", 1));
        assertThat(enumerator.snapshotState(1).progress())
                .containsExactlyInAnyOrder(progress("train", 0), progress("val", 1));
    }

    /** Flink unloads the job's classes while the enumerator closes. */
    @Test
    void releasesTheVersionsWhenItBeginsToEndTheFeed() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        assertThat(released).isFalse();
        enumerator.handleSourceEvent(0, ProgressEvent.of(List.of(), List.of(), 0, true));
        assertThat(released).isTrue();
    }

    /** A reader without lanes has written receipts, too. */
    @Test
    void takesProgressFromAReaderWithoutLanes() {
        LaneEnumerator enumerator = enumerator(Optional.empty());
        enumerator.addSplitsBack(List.of(LaneSplit.of(List.of(progress("train", 1), progress("val", 1)))), 0);
        assertThat(enumerator.snapshotState(1).pending()).isEmpty();
        enumerator.handleSourceEvent(0, server("localhost:1", 100, 0));
        tell(enumerator, 0);
        assertThat(secondsServed(100)).isLessThanOrEqualTo(3);
    }

    /** Another feed of the name is not touched: not its file, nor the versions that it uses. */
    @Test
    void waitsForItsNameAndFailsIfAnotherFeedKeepsIt() {
        taken = FeedLock.running("photos");
        LaneEnumerator enumerator = enumerator(Optional.empty());
        tell(enumerator, 0, progress("train", 1), progress("val", 1));
        assertThatThrownBy(() -> secondsServed(100))
                .isInstanceOf(FlinkRuntimeException.class)
                .hasMessageContaining("a feed photos is already running")
                .hasCauseInstanceOf(SuppressRestartsException.class);
        assertThat(context.assigned).isZero();
        assertThat(context.finished).isFalse();
        assertThat(released).isFalse();
        close(enumerator);
        assertThat(written).containsExactly("unclaimed");
    }

    @Test
    void servesAsSoonAsItsNameIsFree() {
        taken = FeedLock.running("photos");
        LaneEnumerator enumerator = enumerator(Optional.empty());
        secondsServed(3);
        assertThat(written).isEmpty();
        taken = null;
        secondsServed(1);
        assertThat(context.assigned).isEqualTo(2);
        assertThat(written).containsExactly("published");
        close(enumerator);
        assertThat(written).containsExactly("published", "withdrawn", "unclaimed");
    }

    private static void close(LaneEnumerator enumerator) {
        try {
            enumerator.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class NoHint implements LaneMaps.Hint {
        @Override
        public void claim() throws IOException {
            if (taken != null) {
                throw taken;
            }
        }

        @Override
        public void unclaim() {
            written.add("unclaimed");
        }

        @Override
        public boolean isGoingOn() {
            return goesOn;
        }

        @Override
        public void release() {
            released = true;
        }

        @Override
        public void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete) {
            written.add("published");
        }

        @Override
        public boolean takeStopRequest() {
            return false;
        }

        @Override
        public void withdraw(boolean ended) {
            written.add("withdrawn");
        }
    }

    /** A coordinator with one reader. It runs the enumerator's actions at once, except for those on its clock. */
    private static final class Coordinator implements SplitEnumeratorContext<LaneSplit> {
        private BiConsumer<Long, Throwable> tick;
        private boolean finished;
        private int assigned;

        @Override
        public SplitEnumeratorMetricGroup metricGroup() {
            return UnregisteredMetricsGroup.createSplitEnumeratorMetricGroup();
        }

        @Override
        public void sendEventToSourceReader(int subtask, SourceEvent event) {}

        @Override
        public int currentParallelism() {
            return 1;
        }

        @Override
        public Map<Integer, ReaderInfo> registeredReaders() {
            return new HashMap<>(Map.of(0, new ReaderInfo(0, "localhost")));
        }

        @Override
        public void assignSplits(SplitsAssignment<LaneSplit> assignment) {
            assignment.assignment().values().forEach(splits -> assigned += splits.size());
        }

        @Override
        public void signalNoMoreSplits(int subtask) {
            finished = true;
        }

        @Override
        public <T> void callAsync(Callable<T> call, BiConsumer<T, Throwable> handler) {
            T result = null;
            Exception thrown = null;
            try {
                result = call.call();
            } catch (Exception e) {
                thrown = e;
            }
            handler.accept(result, thrown);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> void callAsync(Callable<T> call, BiConsumer<T, Throwable> handler, long delay, long period) {
            if (tick == null) {
                tick = (now, failure) -> handler.accept((T) now, failure);
            }
        }

        @Override
        public void runInCoordinatorThread(Runnable action) {
            action.run();
        }

        @Override
        public void setIsProcessingBacklog(boolean backlog) {}
    }
}
