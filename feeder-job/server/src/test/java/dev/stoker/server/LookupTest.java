package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.feed.LookedUp;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.server.window.ServedStream;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Requests for single samples, of chunks in a store that cannot be mapped and that fails at times. */
class LookupTest {
    private static final Hello LOOKING = RawClient.hello().by(Caller.UNKNOWN.looking());

    @TempDir
    Path directory;

    private FarFeed far;
    private final List<String> keys = new ArrayList<>();
    private final List<TestDataset.Sample> truth = new ArrayList<>();

    @BeforeEach
    void makeDataset() throws IOException {
        far = new FarFeed(directory.resolve("data"));
        for (int chunk = 0; chunk < FarFeed.CHUNKS; chunk++) {
            truth.addAll(far.dataset.samples(chunk));
        }
        truth.forEach(sample -> keys.add(sample.key()));
    }

    /** As {@link FarFeed#start}, with an index. */
    private NodeLease start(TierOptions tiers, long workingBytes) throws IOException {
        return FeedNode.acquire(
                far.feed.spec(),
                TestFeed.options().withLimits(10, workingBytes, 100, 1 << 16).withTiers(tiers),
                new FeedServer.Streams() {
                    @Override
                    public List<ServedStream> open(ChunkSources sources) throws IOException {
                        return far.open(sources, far.store);
                    }

                    @Override
                    public Optional<SampleIndex> index(ServedStream stream) throws IOException {
                        Dataset dataset = Dataset.open(new LocalObjectStore(far.dataset.path()));
                        return Optional.of(
                                SampleIndex.ofSplit(dataset, dataset.snapshot(stream.version()), stream.split()));
                    }
                });
    }

    private static TierOptions memory(String size) {
        return TierOptions.of(TierSpec.parse("memory:" + size));
    }

    private static RawClient looking(NodeLease node) throws IOException {
        RawClient client = RawClient.connect(node.address());
        client.join(LOOKING);
        return client;
    }

    /** Returns the items of a whole answer by key, after a comparison of each message with the truth. */
    private List<Samples.Item> get(RawClient client, long request, List<String> wanted) throws IOException {
        client.send(new GetSamples(request, false, wanted));
        List<Samples.Item> items = new ArrayList<>(Collections.nCopies(wanted.size(), null));
        Samples part;
        do {
            part = client.expect(Samples.class);
            assertThat(part.request()).isEqualTo(request);
            assertThat(part.version()).isEqualTo(far.dataset.version());
            List<TestDataset.Sample> rows = new ArrayList<>();
            for (Samples.Item item : part.items()) {
                assertThat(items.set((int) item.key(), item)).isNull();
                if (item.state() == Samples.State.FOUND) {
                    rows.add(truth.get(keys.indexOf(wanted.get((int) item.key()))));
                }
            }
            ByteBuffer expected = rows.isEmpty() ? ByteBuffer.allocate(0) : NaiveBatch.of(rows, far.feed.classes);
            assertThat(part.message()).isEqualTo(expected);
        } while (!part.isLast());
        assertThat(items).doesNotContainNull();
        return items;
    }

    private List<Samples.State> states(RawClient client, long request, List<String> wanted) throws IOException {
        return get(client, request, wanted).stream().map(Samples.Item::state).toList();
    }

    private long reads() {
        return far.store.calls().stream()
                .filter(call -> call.operation() == Operation.READ)
                .count();
    }

    @Test
    void answersManyKeysInAnyOrderWithDuplicatesAndMissingOnes(TestInfo test) {
        Rounds.of(test).seconds(0.5).run((random, round) -> answersManyKeys(random));
    }

    private void answersManyKeys(Random random) throws IOException {
        List<String> wanted = new ArrayList<>(keys);
        wanted.addAll(keys.subList(0, 20));
        IntStream.range(0, 30).forEach(i -> wanted.add("missing/" + i));
        wanted.addAll(List.of("../../etc/passwd", "", "c1/r1\0", keys.get(0)));
        Collections.shuffle(wanted, random);
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            List<Samples.Item> items = get(client, 7, wanted);
            for (int i = 0; i < wanted.size(); i++) {
                assertThat(items.get(i).state())
                        .as(wanted.get(i))
                        .isEqualTo(keys.contains(wanted.get(i)) ? Samples.State.FOUND : Samples.State.MISSING);
            }
            client.send(new GetSamples(8, true, wanted));
            Samples places = client.expect(Samples.class);
            assertThat(places.message().hasRemaining()).isFalse();
            assertThat(places.items()).containsExactlyElementsOf(items);
            LookedUp lookedUp = node.metrics().lookedUp();
            assertThat(lookedUp.requests()).isEqualTo(2);
            assertThat(lookedUp.keys()).isEqualTo(2L * wanted.size());
            assertThat(lookedUp.bytes()).isGreaterThan(places.parts(0)[0].remaining());
        }
    }

    @Test
    void readsEachChunkOnceAndThenNothingIfATierHasRoom() throws IOException {
        try (NodeLease node = start(memory("1m"), 1 << 20);
                RawClient client = looking(node)) {
            List<String> shuffled = new ArrayList<>(keys);
            Collections.shuffle(shuffled, new Random(1));
            get(client, 1, shuffled);
            assertThat(reads()).isEqualTo(FarFeed.CHUNKS);
            get(client, 2, shuffled);
            assertThat(reads()).isEqualTo(FarFeed.CHUNKS);
            assertThat(FarFeed.tier(node, "memory").used()).isEqualTo(far.bytes);
        }
    }

    @Test
    void readsOnlyPartsOfChunksThatNoTierHasRoomFor() throws IOException {
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            List<String> some = keys.stream().filter(key -> key.endsWith("/r1")).toList();
            assertThat(some).hasSize(FarFeed.CHUNKS);
            get(client, 1, some);
            // A head and a sample of each chunk.
            assertThat(reads()).isLessThanOrEqualTo(2 * FarFeed.CHUNKS);
            assertThat(node.metrics().originBytes()).isLessThan(far.bytes / 2);
            get(client, 2, some);
            assertThat(reads()).isLessThanOrEqualTo(3 * FarFeed.CHUNKS);
        }
    }

    @Test
    void onlyASessionThatLooksMayRequestSamples() throws IOException {
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            client.send(new GetSamples(1, false, keys.subList(0, 1)));
            assertThat(catchThrowable(() -> client.expect(Samples.class)))
                    .hasMessageContaining("bad_frame")
                    .hasMessageContaining("only a session that looks may request samples");
        }
    }

    @Test
    void refusesMoreThanFourRequestsWithoutAnAnswerAndAnswersPingsMeanwhile() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        AtomicBoolean answered = new AtomicBoolean();
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            far.store.on(
                    call -> {
                        asked.countDown();
                        Waiting.until(answered::get);
                        return false;
                    },
                    Fault.FAIL_BEFORE);
            for (int i = 0; i < GetSamples.MAX_REQUESTS; i++) {
                client.send(new GetSamples(i, false, keys.subList(i, i + 1)));
            }
            asked.await();
            client.send(new Ping(5));
            assertThat(client.expect(Pong.class).opaque()).isEqualTo(5);
            client.send(new ListSamples(9, 1, "", "", ""));
            // The thread that would send the reason waits for the origin.
            assertThat(catchThrowable(() -> client.expect(Entries.class)))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
        } finally {
            answered.set(true);
        }
    }

    @Test
    void answersRequestsInTheOrderOfTheirArrival() throws IOException {
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            for (int round = 0; round < 10; round++) {
                client.send(new GetSamples(1, true, keys));
                client.send(new ListSamples(2, 3, "", "/", ""));
                client.send(new GetSamples(3, true, keys.subList(0, 1)));
                List<Frame> frames = List.of(client.receive(), client.receive(), client.receive());
                assertThat(frames.stream().map(Frame::type).map(Enum::name))
                        .containsExactly("SAMPLES", "ENTRIES", "SAMPLES");
            }
        }
    }

    @Test
    void listsPartByPart() throws IOException {
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            List<String> sorted = keys.stream().sorted().toList();
            assertThat(list(client, "", "", 7)).containsExactlyElementsOf(sorted);
            assertThat(list(client, "c1", "", 1))
                    .containsExactlyElementsOf(
                            sorted.stream().filter(key -> key.startsWith("c1")).toList());
            List<String> folders = sorted.stream()
                    .map(key -> key.substring(0, key.indexOf('/') + 1))
                    .distinct()
                    .toList();
            for (int limit : new int[] {1, 3, 1000}) {
                assertThat(list(client, "", "/", limit)).containsExactlyElementsOf(folders);
            }
            assertThat(list(client, "nothing", "/", 3)).isEmpty();
        }
    }

    private static List<String> list(RawClient client, String prefix, String delimiter, int limit) throws IOException {
        List<String> names = new ArrayList<>();
        Entries part;
        do {
            String after = names.isEmpty() ? "" : names.get(names.size() - 1);
            client.send(new ListSamples(3, limit, prefix, delimiter, after));
            part = client.expect(Entries.class);
            part.entries().forEach(entry -> names.add(entry.name()));
            assertThat(part.entries()).hasSizeLessThanOrEqualTo(limit);
        } while (part.hasMore());
        return names;
    }

    @Test
    void aFlippedBitOnTheWayIsHealedAndOneInTheStoreIsAnErrorOfItsSampleOnly() throws IOException {
        for (int flipped = 0; flipped < 8; flipped++) {
            int number = flipped;
            far.store.reset();
            far.store.once(call -> call.number() == number, Fault.FLIPPED_BIT);
            try (NodeLease node = start(TierOptions.of(), 1 << 20);
                    RawClient client = looking(node)) {
                assertThat(states(client, 1, keys)).containsOnly(Samples.State.FOUND);
            }
        }
        far.store.reset();
        far.store.on(call -> call.name().equals(far.name(3)), Fault.FLIPPED_BIT);
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            for (Samples.Item item : get(client, 1, keys)) {
                String key = keys.get((int) item.key());
                if (!key.startsWith("c3/")) {
                    assertThat(item.state()).as(key).isEqualTo(Samples.State.FOUND);
                } else if (item.state() == Samples.State.DAMAGED) {
                    assertThat(item.problem())
                            .contains("chunk 3, row " + item.place().row() + ", key '" + key + "'");
                }
            }
        }
    }

    @Test
    void aMissingChunkIsAnErrorOfItsSamplesOnly() throws IOException {
        far.remote.delete(far.name(5));
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            List<Samples.Item> items = get(client, 1, keys);
            for (int i = 0; i < items.size(); i++) {
                assertThat(items.get(i).state() == Samples.State.DAMAGED)
                        .as(keys.get(i))
                        .isEqualTo(keys.get(i).startsWith("c5/"));
            }
        }
    }

    @Test
    void anOriginThatFailsEndsTheSessionOnly() throws IOException {
        try (NodeLease node = start(TierOptions.of(), 1 << 20)) {
            far.store.on(call -> call.operation() == Operation.READ, Fault.FAIL_BEFORE);
            try (RawClient client = looking(node)) {
                assertThat(catchThrowable(() -> get(client, 1, keys))).hasMessageContaining("origin_unavailable");
            }
            far.store.reset();
            try (RawClient client = looking(node)) {
                assertThat(states(client, 1, keys)).containsOnly(Samples.State.FOUND);
            }
        }
    }

    @Test
    void removedRowsAreMissing() throws IOException {
        far.dataset.remove(2, 0, 3);
        try (NodeLease node = far.feed.now().start();
                RawClient client = looking(node)) {
            assertThat(states(client, 1, List.of("c2/r0", "c2/r1", "c2/r3")))
                    .containsExactly(Samples.State.MISSING, Samples.State.FOUND, Samples.State.MISSING);
        }
    }

    @Test
    void placesAreThoseOfTheDataset() throws IOException {
        try (NodeLease node = start(TierOptions.of(), 1 << 20);
                RawClient client = looking(node)) {
            client.send(new GetSamples(1, true, List.of("c7/r2")));
            SampleAddress place = client.expect(Samples.class).items().get(0).place();
            assertThat(place.ordinal()).isEqualTo(7);
            assertThat(place.row()).isEqualTo(2);
        }
    }
}
