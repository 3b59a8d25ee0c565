package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Feeds and groups that read the rows for which a condition is true. */
class SelectedRowsTest {
    private static final String ORDER = "{\"batch_size\":6,\"lanes\":3,\"shuffle_window\":12000,\"seed\":5%s}";
    private static final String WHERE = "score >= 0.5 AND key <> ''";

    @TempDir
    Path directory;

    private TestDataset dataset;

    @BeforeEach
    void makeDataset() throws IOException {
        dataset = TestDataset.create(directory.resolve("data"), 7, 300, 9, 14, 3, 11, 8, 12, 1, 10, 13, 7);
        dataset.remove(1, 0, 3, 4);
    }

    private TestFeed feed(String where) throws IOException {
        return new TestFeed(dataset, ORDER.formatted(where.isEmpty() ? "" : ",\"where\":\"" + where + "\""));
    }

    private List<String> keys(Predicate<TestDataset.Sample> rule) {
        List<String> keys = new ArrayList<>();
        for (int chunk = 0; chunk < 10; chunk++) {
            List<TestDataset.Sample> samples = dataset.samples(chunk);
            for (int row = 0; row < samples.size(); row++) {
                boolean isRemoved = chunk == 1 && (row == 0 || row == 3 || row == 4);
                if (!isRemoved && rule.test(samples.get(row))) {
                    keys.add(samples.get(row).key());
                }
            }
        }
        return keys;
    }

    private static Hello hello(String group, String where) {
        OrderOverlay order = OrderOverlay.fromJson("{\"where\":\"" + where + "\"}");
        return new Hello(
                        Optional.empty(),
                        "test/1",
                        new Hello.PassRequest(Optional.empty(), Optional.empty(), group, order),
                        Participant.rank(0, 1),
                        0,
                        0)
                .by(RawClient.process(1));
    }

    /** Reads an epoch, whose every byte is checked, and returns the keys. */
    private static List<String> read(TestFeed feed, RawClient client, long epoch) throws IOException {
        long batches = feed.streamOrder.size().batches();
        feed.readAll(client, new Subscribe(1 + (int) epoch, epoch, 0, 1, batches, TailPolicy.KEEP, List.of()));
        List<String> keys = new ArrayList<>();
        for (long number = 0; number < batches; number++) {
            for (DeliveredPiece piece :
                    feed.batch(epoch, number, TailPolicy.KEEP).pieces()) {
                feed.samples(epoch, piece).forEach(sample -> keys.add(sample.key()));
            }
        }
        return keys;
    }

    @Test
    void anEpochHasTheSelectedRowsOnly() throws IOException {
        TestFeed feed = feed(WHERE);
        List<String> expected = keys(sample -> sample.score() != null && sample.score() >= 0.5);
        assertThat(expected).hasSizeBetween(10, 60);
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address())) {
            Welcome welcome = client.join(RawClient.hello());
            assertThat(welcome.toString()).contains(WHERE);
            for (long epoch = 0; epoch < 2; epoch++) {
                assertThat(read(feed, client, epoch)).containsExactlyInAnyOrderElementsOf(expected);
            }
        }
    }

    @Test
    void aGroupHasItsOwnCondition() throws IOException {
        TestFeed all = feed("");
        TestFeed own = feed("score < 0.5");
        own.instance = all.instance;
        try (NodeLease node = all.start();
                RawClient client = RawClient.connect(node.address());
                RawClient other = RawClient.connect(node.address())) {
            client.join(RawClient.hello());
            assertThat(read(all, client, 0)).hasSize(keys(sample -> true).size());
            other.join(hello("less", "0.5>score"));
            assertThat(read(own, other, 0))
                    .containsExactlyInAnyOrderElementsOf(
                            keys(sample -> sample.score() != null && sample.score() < 0.5));
        }
    }

    @Test
    void aConditionThatTheStreamCannotHaveIsRefused() throws IOException {
        try (NodeLease node = feed("").start()) {
            for (String where : List.of("nothing = 1", "score < -1", "image = 'x'", "label > 3")) {
                try (RawClient client = RawClient.connect(node.address())) {
                    RawClient.Ended ended =
                            catchThrowableOfType(RawClient.Ended.class, () -> client.join(hello("other", where)));
                    assertThat(ended.code()).isEqualTo(ErrorCode.ORDER_MISMATCH.text());
                    assertThat(ended).hasMessageContaining("stream train: where \"" + where + "\"");
                }
            }
        }
    }
}
