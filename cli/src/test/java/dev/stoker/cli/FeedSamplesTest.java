package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.FeedClient;
import dev.stoker.client.FeedSample;
import dev.stoker.client.FeedSamples;
import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedNotFoundException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.parts.SampleAddress;
import dev.stoker.schemas.testing.FreePort;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.feed.PortRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Single samples that the Java client reads from a feeder. */
class FeedSamplesTest {

    @TempDir
    Path directory;

    private TestFeed feed;
    private final List<TestDataset.Sample> truth = new ArrayList<>();
    private List<String> keys;

    @BeforeEach
    void makeFeed() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 5, 4000, 30, 50, 7, 40);
        feed = new TestFeed(dataset, "{\"batch_size\":4,\"lanes\":2}");
        IntStream.range(0, 4).forEach(chunk -> truth.addAll(dataset.samples(chunk)));
        keys = truth.stream().map(TestDataset.Sample::key).toList();
    }

    private static void requireEqual(FeedSample found, TestDataset.Sample expected) {
        assertThat(found.key()).isEqualTo(expected.key());
        assertThat(found.text("label")).isEqualTo(expected.label());
        assertThat(found.isMissing("score")).isEqualTo(expected.score() == null);
        if (expected.score() != null) {
            assertThat((float) found.column("score").doubleAt(found.row())).isEqualTo(expected.score());
        }
        assertThat(found.bytes("image")).isEqualTo(ByteBuffer.wrap(expected.image()));
    }

    private void requireAll(List<String> wanted, List<Optional<FeedSample>> found) {
        assertThat(found).hasSameSizeAs(wanted);
        for (int i = 0; i < wanted.size(); i++) {
            int index = keys.indexOf(wanted.get(i));
            assertThat(found.get(i).isPresent()).as(wanted.get(i)).isEqualTo(index >= 0);
            if (index >= 0) {
                requireEqual(found.get(i).orElseThrow(), truth.get(index));
            }
        }
    }

    @Test
    void readsManyKeysInTheCallersOrder() throws IOException {
        List<String> wanted = new ArrayList<>(keys);
        wanted.addAll(keys.subList(3, 9));
        wanted.addAll(List.of("../../etc/passwd", "", "c0/r1\0", "\uD800", "x".repeat(5000)));
        IntStream.range(0, 10_000 - wanted.size()).forEach(i -> wanted.add("missing/" + i));
        Collections.shuffle(wanted, new Random(3));
        try (NodeLease node = feed.start();
                FeedSamples samples = FeedClient.of(node.address()).openSamples()) {
            requireAll(wanted, samples.get(wanted));
            List<Optional<SampleAddress>> places = samples.stat(wanted);
            for (int i = 0; i < wanted.size(); i++) {
                assertThat(places.get(i).isPresent()).isEqualTo(keys.contains(wanted.get(i)));
            }
            assertThat(samples.get("c1/r3").orElseThrow().place())
                    .isEqualTo(samples.stat("c1/r3").orElseThrow());
            assertThat(samples.get("nothing")).isEmpty();
            assertThat(samples.get(List.of())).isEmpty();
            assertThat(samples.info().version()).isEqualTo(1);
        }
    }

    @Test
    void listsKeysAndCommonPrefixes() throws IOException {
        try (NodeLease node = feed.start();
                FeedSamples samples = FeedClient.of(node.address()).openSamples()) {
            List<String> names = new ArrayList<>();
            samples.list("", "").forEachRemaining(entry -> names.add(entry.name()));
            assertThat(names).containsExactlyElementsOf(keys.stream().sorted().toList());
            List<Entries.Entry> entries = new ArrayList<>();
            samples.list("", "/").forEachRemaining(entries::add);
            assertThat(entries).extracting(Entries.Entry::name).containsExactly("c0/", "c1/", "c2/", "c3/");
            assertThat(entries).allMatch(entry -> entry.sample().isEmpty());
        }
    }

    @Test
    void threadsShareOneObject() throws Exception {
        try (NodeLease node = feed.start();
                FeedSamples samples = FeedClient.of(node.address()).openSamples()) {
            List<CompletableFuture<Void>> readers = IntStream.range(0, 8)
                    .mapToObj(thread -> CompletableFuture.runAsync(() -> {
                        List<String> some = keys.subList(thread, thread + 60);
                        for (int i = 0; i < 20; i++) {
                            requireAll(some, samples.get(some));
                        }
                    }))
                    .toList();
            for (CompletableFuture<Void> reader : readers) {
                reader.get();
            }
        }
    }

    @Test
    void asksAnotherFeederIfOneIsGone() throws IOException {
        int free = FreePort.find();
        NodeLease first = feed.start();
        try (FeedSamples samples = FeedClient.of(first.address() + ",127.0.0.1:" + free)
                .environment(Map.of("STOKER_TRANSPORT", "tcp"))
                .openSamples()) {
            requireAll(keys, samples.get(keys));
            first.close();
            try (NodeLease second =
                    FeedNode.acquire(feed.spec(), TestFeed.options().withPorts(PortRange.parse("" + free)))) {
                assertThat(second.address()).isEqualTo("127.0.0.1:" + free);
                requireAll(keys, samples.get(keys));
            }
        }
    }

    @Test
    void aDamagedSampleIsNamedAndOthersCanBeRead() throws IOException {
        Path file = feed.dataset.file(1);
        byte[] content = Files.readAllBytes(file);
        byte[] image = feed.dataset.samples(1).get(4).image();
        int at = Collections.indexOfSubList(asList(content), asList(image));
        content[at + image.length / 2] ^= 1;
        Files.write(file, content);
        try (NodeLease node = feed.start();
                FeedSamples samples = FeedClient.of(node.address()).openSamples()) {
            assertThatThrownBy(() -> samples.get(keys))
                    .isInstanceOf(CorruptBatchException.class)
                    .hasMessageContaining("chunk 1, row 4, key 'c1/r4'");
            List<String> others =
                    keys.stream().filter(key -> !key.equals("c1/r4")).toList();
            requireAll(others, samples.get(others));
        }
    }

    private static List<Byte> asList(byte[] bytes) {
        List<Byte> list = new ArrayList<>(bytes.length);
        for (byte b : bytes) {
            list.add(b);
        }
        return list;
    }

    @Test
    void saysWhatIsWrong() throws IOException {
        try (NodeLease node = feed.start()) {
            String address = node.address();
            assertThatThrownBy(() -> FeedClient.of(address).stream("other").openSamples())
                    .isInstanceOf(FeedProtocolException.class)
                    .hasMessageContaining("has no stream other");
            assertThatThrownBy(() -> FeedClient.of(address).version(9).openSamples())
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("version 1, asked for 9");
            assertThatThrownBy(() -> FeedClient.of("kafka://host:1/topic").openSamples())
                    .hasMessageContaining("not from a topic");
            FeedSamples samples = FeedClient.of(address).openSamples();
            samples.close();
            assertThatThrownBy(() -> samples.stat("a"))
                    .isInstanceOf(FeedException.class)
                    .hasMessageContaining("closed");
        }
        assertThatThrownBy(() -> FeedClient.of("nobody")
                        .environment(Map.of("STOKER_HOME", directory.toString()))
                        .openSamples())
                .isInstanceOf(FeedNotFoundException.class);
        assertThatThrownBy(() -> FeedClient.of("127.0.0.1:1")
                        .timeouts(t -> t.connectTimeout(Duration.ofMillis(10)))
                        .openSamples())
                .isInstanceOf(ConnectTimeoutException.class)
                .hasMessageContaining("127.0.0.1:1");
    }

    @Test
    void needsAToken() throws IOException {
        try (NodeLease node = FeedNode.acquire(feed.spec(), TestFeed.options().withToken("secret"))) {
            try (FeedSamples samples = FeedClient.of(node.address())
                    .security(s -> s.token("secret"))
                    .openSamples()) {
                requireAll(keys, samples.get(keys));
            }
            assertThatThrownBy(() -> FeedClient.of(node.address())
                            .security(s -> s.token("wrong"))
                            .openSamples())
                    .isInstanceOf(UnauthorizedException.class);
        }
    }
}
