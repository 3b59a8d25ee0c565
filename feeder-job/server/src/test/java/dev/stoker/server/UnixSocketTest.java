package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The Unix-domain socket of a node. */
@Timeout(60)
class UnixSocketTest {
    @TempDir
    Path folder;

    private TestFeed feed() throws Exception {
        return new TestFeed(
                TestDataset.create(folder.resolve("data"), 7, 300, 9, 14, 3, 11),
                "{\"batch_size\":6,\"lanes\":3,\"seed\":5}");
    }

    @Test
    void theSameBatchesComeOverItAndTheWelcomeNamesIt() throws Exception {
        TestFeed feed = feed();
        UnixAddress place;
        try (NodeLease node = feed.start()) {
            place = node.unix().orElseThrow();
            try (RawClient client = RawClient.connect(place)) {
                Welcome welcome = client.join(RawClient.hello());
                assertThat(welcome.laneMap().unix()).isEqualTo(Map.of(node.address(), place));
                long batches = welcome.size().batches();
                assertThat(feed.readAll(client, new Subscribe(1, 0, 0, 1, batches, TailPolicy.PAD, List.of())))
                        .hasSizeGreaterThanOrEqualTo((int) batches);
            }
            try (RawClient client = RawClient.connect(node.address())) {
                assertThat(client.join(RawClient.hello()).laneMap().unix()).containsKey(node.address());
            }
        }
        assertThat(Files.exists(Path.of(place.path()).getParent())).isFalse();
    }

    @Test
    void aTokenIsWantedOnItToo() throws Exception {
        TestFeed feed = feed();
        try (NodeLease node = FeedNode.acquire(feed.spec(), TestFeed.options().withToken("secret"))) {
            UnixAddress place = node.unix().orElseThrow();
            try (RawClient client = RawClient.connect(place)) {
                assertThatThrownBy(() -> client.join(RawClient.hello())).hasMessageContaining("unauthorized");
            }
            try (RawClient client = RawClient.connect(place)) {
                Hello plain = RawClient.hello();
                client.join(new Hello(
                        Optional.of("secret"),
                        plain.client(),
                        new Hello.PassRequest(
                                plain.pass().feed(),
                                plain.pass().stream(),
                                plain.pass().group(),
                                plain.pass().order()),
                        plain.participant(),
                        plain.replica(),
                        plain.run()));
            }
        }
    }
}
