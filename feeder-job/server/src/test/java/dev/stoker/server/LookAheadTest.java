package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.storage.FaultyObjectStore.Operation;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what the feeders of one feed load in advance. The servers share only the store, as if they were in separate
 * processes.
 */
class LookAheadTest {
    private static final int LANES = 3;

    @TempDir
    Path directory;

    private FarFeed far;
    private final List<FeedServer> servers = new ArrayList<>();

    @BeforeEach
    void makeDataset() throws IOException {
        far = new FarFeed(directory.resolve("data"));
    }

    @AfterEach
    void close() {
        servers.forEach(FeedServer::close);
    }

    /**
     * Starts a feeder that reads one chunk at a time. It reads chunks that are only placed in tiers after all wanted
     * chunks.
     */
    private FeedServer start() throws IOException {
        TierOptions tiers = TierOptions.of(TierSpec.parse("memory:" + far.bytes + "b"));
        FeedServer server = new FeedServer(
                far.feed.spec(),
                TestFeed.options()
                        .withLimits(10, 1 << 20, 100, 1 << 16)
                        .withTiers(tiers.warmed().withOrigin(0, 1)),
                sources -> far.open(sources, far.store));
        servers.add(server);
        return server;
    }

    /** Returns a lane map in which each lane belongs to the feeder at its index. */
    private static LaneMap map(long counter, FeedServer... feeders) {
        List<String> addresses = IntStream.range(0, feeders.length)
                .mapToObj(i -> feeders[i] == null ? "elsewhere:1" : feeders[i].address())
                .distinct()
                .toList();
        List<List<Integer>> lanes = new ArrayList<>();
        for (FeedServer feeder : feeders) {
            lanes.add(List.of(addresses.indexOf(feeder == null ? "elsewhere:1" : feeder.address())));
        }
        return new LaneMap(7, counter, addresses, lanes);
    }

    private static RawClient join(FeedServer server, String group) throws IOException {
        return join(server, group, "{}");
    }

    private static RawClient join(FeedServer server, String group, String order) throws IOException {
        RawClient client = RawClient.connect(server.address());
        client.join(new Hello(
                Optional.empty(),
                "test/1",
                new Hello.PassRequest(Optional.empty(), Optional.empty(), group, OrderOverlay.fromJson(order)),
                Participant.rank(0, 1),
                0,
                0));
        return client;
    }

    private long batches() {
        return far.feed.streamOrder.size().batches();
    }

    /** Subscribes to an epoch from this batch on, with a grant of no batches. */
    private void subscribe(RawClient client, long subscription, long epoch, long first, Integer... lanes)
            throws IOException {
        client.send(new Subscribe(subscription, epoch, first, 1, batches() - first, TailPolicy.KEEP, List.of(lanes)));
    }

    /** Reads the pieces of these lanes from one batch through another, and compares all bytes. */
    private void read(RawClient client, long subscription, long epoch, long first, long through, Integer... lanes)
            throws IOException {
        Set<Integer> asked = lanes.length == 0 ? Set.of(0, 1, 2) : Set.of(lanes);
        client.send(new Grant(subscription, through));
        for (long m = first; m <= through; m++) {
            long pieces = far.feed.batch(epoch, m, TailPolicy.KEEP).pieces().stream()
                    .filter(piece -> asked.contains(piece.lane()))
                    .count();
            for (long i = 0; i < pieces; i++) {
                far.feed.verify(client.expectIntact(), TailPolicy.KEEP);
            }
        }
    }

    /** Returns the chunks that were read from the store, with repetitions. */
    private List<String> reads() {
        return far.store.calls().stream()
                .filter(call -> call.operation() == Operation.READ)
                .map(call -> call.name())
                .toList();
    }

    private Set<String> chunksOf(int lane) {
        Set<String> names = new HashSet<>();
        LaneEpoch of = far.feed.streamOrder.epoch(0).lane(lane);
        for (int window = 0; window < of.windows(); window++) {
            for (int chunk : of.windowChunks(window)) {
                names.add(far.name(chunk));
            }
        }
        return names;
    }

    /** Returns the maximum number of chunks of a window. */
    private int window() {
        int most = 0;
        for (int lane = 0; lane < LANES; lane++) {
            LaneEpoch of = far.feed.streamOrder.epoch(0).lane(lane);
            for (int window = 0; window < of.windows(); window++) {
                most = Math.max(most, of.windowChunks(window).length);
            }
        }
        return most;
    }

    /**
     * Waits until all wanted chunks have been read from the store: chunks that nobody requested are read after them.
     */
    private void awaitWanted(FeedServer server, int ownLane) {
        server.warm("train", ownLane);
        Waiting.until(() -> Set.copyOf(reads()).containsAll(chunksOf(ownLane)));
    }

    private Set<String> readOf(int... lanes) {
        Set<String> all = IntStream.of(lanes)
                .mapToObj(this::chunksOf)
                .flatMap(Set::stream)
                .collect(Collectors.toSet());
        return reads().stream().filter(all::contains).collect(Collectors.toSet());
    }

    @Test
    void ofLanesOfOthersNoMoreIsBroughtThanIsRead() throws IOException {
        FeedServer server = start();
        server.updateLaneMap("train", map(1, server, null, null));
        try (RawClient client = join(server, "a")) {
            subscribe(client, 1, 0, 0);
            read(client, 1, 0, 0, 0);
            awaitWanted(server, 0);
            assertThat(readOf(1, 2)).hasSizeLessThanOrEqualTo(2 * window());
            assertThat(chunksOf(1).size() + chunksOf(2).size()).isGreaterThan(4 * window());
        }
    }

    @Test
    void theDatasetIsReadOnceThoughTrainersCameBeforeTheLaneMap() throws IOException {
        FeedServer one = start();
        FeedServer other = start();
        List<RawClient> trainers = new ArrayList<>();
        try {
            for (String group : List.of("a", "b", "c")) {
                RawClient client = join(one, group);
                trainers.add(client);
                subscribe(client, 1, 0, 0);
                read(client, 1, 0, 0, 0);
            }
            awaitWanted(one, 0);
            LaneMap late = map(1, one, other, other);
            one.updateLaneMap("train", late);
            other.updateLaneMap("train", late);
            long last = batches() - 1;
            for (RawClient client : trainers) {
                subscribe(client, 2, 0, 1, 0);
                read(client, 2, 0, 1, last, 0);
            }
            for (String group : List.of("a", "b", "c")) {
                RawClient client = join(other, group);
                trainers.add(client);
                subscribe(client, 1, 0, 1, 1, 2);
                read(client, 1, 0, 1, last, 1, 2);
            }
            assertThat(Set.copyOf(reads())).hasSize(FarFeed.CHUNKS);
            assertThat(reads()).hasSizeLessThanOrEqualTo(FarFeed.CHUNKS + 2 * window());
        } finally {
            for (RawClient client : trainers) {
                client.close();
            }
        }
    }

    @Test
    void lanesThatAMapGivesItAreBroughtFromThenOn() throws IOException {
        FeedServer server = start();
        try (RawClient client = join(server, "a")) {
            subscribe(client, 1, 0, 0);
            read(client, 1, 0, 0, 0);
            awaitWanted(server, 0);
            assertThat(readOf(1, 2)).hasSizeLessThanOrEqualTo(2 * window());
            server.updateLaneMap("train", map(1, server, server, server));
            read(client, 1, 0, 1, 1);
            Waiting.until(() -> Set.copyOf(reads()).size() == FarFeed.CHUNKS);
        }
        assertThat(reads()).hasSize(FarFeed.CHUNKS);
    }

    @Test
    void whoReadsAllLanesHereIsServedAheadMoreAndMore() throws IOException {
        FeedServer server = start();
        server.updateLaneMap("train", map(1, null, null, null));
        // A window is a chunk, so that there are many windows.
        try (RawClient client = join(server, "a", "{\"shuffle_window\":3}")) {
            subscribe(client, 1, 0, 0);
            long through = batches() * 6 / 10;
            client.send(new Grant(1, through));
            for (long m = 0; m <= through; m++) {
                for (int left = far.feed.batch(0, m, TailPolicy.KEEP).pieces().size(); left > 0; left--) {
                    client.expectIntact();
                }
            }
            Waiting.until(() -> Set.copyOf(reads()).size() == FarFeed.CHUNKS);
        }
    }
}
