package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.DatasetStreams;
import dev.stoker.server.HonestTrainer;
import dev.stoker.server.RawClient;
import dev.stoker.server.ScarceThreads;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.Waiting;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.session.FeedServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A feeder that has used up its threads, files or memory ends sessions, and serves again when there is room. */
@Timeout(100)
class ExhaustionTest {
    @TempDir
    Path directory;

    private static RawClient joined(String address, String group) throws IOException {
        RawClient client = RawClient.connect(address);
        try {
            client.join(HonestTrainer.hello(group));
            return client;
        } catch (IOException | RuntimeException | Error e) {
            client.close();
            throw e;
        }
    }

    private static Subscribe all(TestFeed feed, int subscription) {
        return new Subscribe(subscription, 0, 0, 1, feed.streamOrder.size().batches(), TailPolicy.KEEP, List.of());
    }

    @Test
    void withoutAThreadATrainerIsRefusedAndOthersAreServed() throws Exception {
        TestFeed feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 20, 20), "{\"batch_size\":4,\"lanes\":2}");
        FeedSpec spec = feed.spec();
        ScarceThreads threads = new ScarceThreads();
        try (FeedServer server = new FeedServer(
                        spec, TestFeed.options(), new DatasetStreams(spec.id(), spec.streams()), threads);
                RawClient witness = joined(server.address(), "witness")) {
            int subscription = 0;
            // Without the thread that reads, and without the one that writes.
            for (int more = 0; more < 2; more++) {
                for (int i = 0; i < 5; i++) {
                    threads.allow(more);
                    assertThatThrownBy(() -> joined(server.address(), "refused"))
                            .hasMessageContaining("internal: the feeder has no thread left for another trainer");
                    Waiting.until(() -> server.metrics().sessions() == 1);
                    assertThat(feed.readAll(witness, all(feed, ++subscription))).hasSize(10);
                }
            }
            threads.allow(2);
            try (RawClient client = joined(server.address(), "welcome")) {
                assertThat(feed.readAll(client, all(feed, 1))).hasSize(10);
            }
        }
    }

    @Test
    void withoutFilesConnectionsWaitAndSessionsGoOn() throws Exception {
        // The class path of a test takes up the greater part.
        int files = 300;
        try (SmallFeeder feeder = SmallFeeder.start(directory, files, "-Xmx64m");
                HonestTrainer honest =
                        new HonestTrainer(feeder.plainFeed(), feeder.plainAddress(), Optional.empty(), "honest")) {
            // The test loads classes from directories, which takes a descriptor for each class. So it first uses all
            // classes that it needs later.
            Waiting.until(() -> honest.epochs() > 1);
            try (HonestTrainer early =
                    new HonestTrainer(feeder.plainFeed(), feeder.plainAddress(), Optional.empty(), "early")) {
                early.finish();
            }
            List<Socket> idle = new ArrayList<>();
            try {
                int colon = feeder.plainAddress().lastIndexOf(':');
                for (int i = 0; i < files + 100; i++) {
                    Socket socket = new Socket();
                    idle.add(socket);
                    socket.connect(new InetSocketAddress(
                            feeder.plainAddress().substring(0, colon),
                            Integer.parseInt(feeder.plainAddress().substring(colon + 1))));
                }
                int epochs = honest.epochs();
                Waiting.until(() -> {
                    honest.requireContent();
                    return honest.epochs() > epochs + 2;
                });
            } finally {
                for (Socket socket : idle) {
                    socket.close();
                }
            }
            try (HonestTrainer late =
                    new HonestTrainer(feeder.plainFeed(), feeder.plainAddress(), Optional.empty(), "late")) {
                late.finish();
            }
            honest.finish();
        }
    }

    @Test
    void withoutDirectMemorySessionsEndAndTheNextOnesAreServed() throws Exception {
        try (SmallFeeder feeder = SmallFeeder.start(directory, "-Xmx64m", "-XX:MaxDirectMemorySize=600k")) {
            int refused = 0;
            List<RawClient> clients = new ArrayList<>();
            try {
                // Each one that is refused takes the virtual machine about a second of collecting garbage.
                for (int i = 0; i < 200 && refused < 3; i++) {
                    RawClient client = RawClient.connect(feeder.plainAddress());
                    clients.add(client);
                    try {
                        client.join(HonestTrainer.hello("group-" + i));
                    } catch (IOException e) {
                        refused++;
                    }
                }
            } finally {
                for (RawClient client : clients) {
                    client.close();
                }
            }
            assertThat(refused).isPositive();
            feeder.requireAlive();
            Waiting.until(() -> {
                try (HonestTrainer late =
                        new HonestTrainer(feeder.plainFeed(), feeder.plainAddress(), Optional.empty(), "late")) {
                    late.finish();
                    return true;
                } catch (IOException | AssertionError e) {
                    // Its memory may still belong to sessions that end.
                    return false;
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
        }
    }
}
