package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.feeder.source.reader.ReaderContext;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.LaneSplit;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.HonestTrainer;
import dev.stoker.server.NodeLease;
import dev.stoker.server.RawClient;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.Waiting;
import dev.stoker.server.feed.Identity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A trainer with a valid token that invents groups affects no other trainer, and the job's state stays small. */
@Timeout(600)
class InventedGroupsTest {
    @TempDir
    Path directory;

    /** Reads one batch, so the feeder has taken the subscription into account. */
    private static void readOne(String address, String group) throws IOException {
        try (RawClient client = RawClient.connect(address)) {
            client.join(HonestTrainer.hello(group));
            client.send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.KEEP, List.of()));
            client.send(new Grant(1, 0));
            client.send(TestFeed.ack(client.expectIntact()));
        }
    }

    private static boolean mayRead(String address, String group) {
        try {
            readOne(address, group);
            return true;
        } catch (RawClient.Ended e) {
            assertThat(e.code()).isEqualTo("place_taken");
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @Tag("full-feeds")
    void groupsBeyondTheLimitOfTheJobsStateAreRefused() throws Exception {
        try (SmallFeeder feeder = SmallFeeder.start(directory, "-Xmx64m", "-Dtest.epochs=1000000000")) {
            inventGroups(feeder);
            feeder.requireAlive();
            // The feed already waits for this trainer, so it may return, once the server has noticed its end.
            Waiting.until(() -> mayRead(feeder.plainAddress(), "honest"));
        }
    }

    /** Until the feeder refuses them. A trainer that reads meanwhile does not notice. */
    private static void inventGroups(SmallFeeder feeder) throws Exception {
        try (HonestTrainer honest =
                new HonestTrainer(feeder.plainFeed(), feeder.plainAddress(), Optional.empty(), "honest")) {
            String refusal = "";
            int accepted = 0;
            // The longest names: 249 characters of three bytes, and six digits.
            while (refusal.isEmpty() && accepted < 6000) {
                try {
                    readOne(feeder.plainAddress(), "\u20ac".repeat(249) + String.format("%06d", accepted));
                    accepted++;
                } catch (RawClient.Ended e) {
                    refusal = e.getMessage();
                }
            }
            assertThat(refusal).contains("internal", "the feed waits for", "--groups");
            assertThat(accepted).isBetween(5000, 5400);
            int epochs = honest.epochs();
            Waiting.until(() -> {
                honest.requireContent();
                return honest.epochs() > epochs;
            });
            honest.finish();
        }
    }

    @Test
    void onlyGroupsThatTheFeedWaitsForAreInItsState() throws Exception {
        assertThat(progress(OptionalLong.empty())).as("a feed without an end").isEmpty();
        assertThat(progress(OptionalLong.of(5)))
                .extracting(known -> known.consumer().group())
                .containsExactly("a", "b");
    }

    /** A trainer that invents as many groups after each restart of the task must not make its state grow. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void consumersOfAnEarlierProcessCountTowardsTheLimit(boolean isRestoredLate) throws Exception {
        TestFeed feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 40), "{\"batch_size\":8,\"lanes\":1}");
        feed.epochs = OptionalLong.of(5);
        List<ConsumerProgress> earlier = new ArrayList<>();
        for (int group = 0; group < 1 << 17; group++) {
            earlier.add(new ConsumerProgress(new Identity("train", "group" + group, 1, 0, 1, 0, 1, 0), 1));
        }
        List<LaneSplit> restored = List.of(LaneSplit.of("train", 0), LaneSplit.of(earlier));
        LaneReader reader = new LaneReader(
                new ReaderContext(), feed::start, item -> new byte[] {1}, StopSignal.of(UUID.randomUUID()), () -> 0);
        if (!isRestoredLate) {
            reader.addSplits(restored);
        }
        reader.start();
        if (isRestoredLate) {
            reader.addSplits(restored);
        }
        try (NodeLease lease = feed.start()) {
            readOne(lease.address(), "group5");
            assertThatThrownBy(() -> readOne(lease.address(), "new"))
                    .isInstanceOf(RawClient.Ended.class)
                    .hasMessageContaining("the feed waits for 131072 consumers");
        } finally {
            reader.close();
        }
    }

    private List<ConsumerProgress> progress(OptionalLong epochs) throws IOException {
        TestFeed feed = new TestFeed(
                TestDataset.create(directory.resolve("data" + epochs.isPresent()), 1, 50, 40),
                "{\"batch_size\":8,\"lanes\":1}");
        feed.epochs = epochs;
        ReaderContext context = new ReaderContext();
        LaneReader reader = new LaneReader(
                context, feed::start, item -> new byte[] {1}, StopSignal.of(UUID.randomUUID()), () -> Long.MAX_VALUE);
        try (NodeLease lease = feed.start()) {
            reader.start();
            reader.addSplits(List.of(LaneSplit.of("train", 0)));
            readOne(lease.address(), "a");
            readOne(lease.address(), "b");
            Waiting.until(() -> {
                try {
                    reader.pollNext(context);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                return context.emitted().size() == 4;
            });
            return reader.snapshotState(1).stream()
                    .flatMap(split -> split.progress().stream())
                    .toList();
        } finally {
            reader.close();
        }
    }
}
