package dev.stoker.server.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.TestDataset;
import dev.stoker.server.TestFeed;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.tiers.TierOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerOptionsTest {
    @Test
    void refusesAnOpenBindWithoutTokenOrConsent() {
        assertThatThrownBy(() -> bind("0.0.0.0", Optional.empty(), false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("--token-file", "--insecure");
        assertThat(bind("0.0.0.0", Optional.of("secret"), false).bind()).isEqualTo("0.0.0.0");
        assertThat(bind("0.0.0.0", Optional.empty(), true).access().insecure()).isTrue();
        assertThat(bind("127.0.0.3", Optional.empty(), false).bind()).isEqualTo("127.0.0.3");
    }

    @Test
    void doesNotPrintTheToken() {
        assertThat(bind("127.0.0.1", Optional.of("secret"), false).toString()).doesNotContain("secret");
    }

    private static ServerOptions bind(String host, Optional<String> token, boolean insecure) {
        ServerSecurity access = new ServerSecurity(token.map(FeedToken::of), Optional.empty(), insecure);
        return new ServerOptions(
                host, PortRange.ANY, Optional.empty(), access, 1, 1, 1, 1, TierOptions.defaults(), Duration.ZERO);
    }

    @Test
    void parsesPortsAndRanges() {
        assertThat(PortRange.parse("7420")).isEqualTo(new PortRange(7420, 7420));
        assertThat(PortRange.parse("7420-7430")).hasToString("7420-7430");
        assertThat(PortRange.parse("0")).isEqualTo(PortRange.ANY);
        for (String wrong : new String[] {"", "x", "7-", "9-8", "0-5", "65536", "-1"}) {
            assertThatThrownBy(() -> PortRange.parse(wrong)).as(wrong).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aTakenPortIsOneLineAndARangeFindsTheNext(@TempDir Path directory) throws IOException {
        TestFeed feed = new TestFeed(TestDataset.create(directory.resolve("data"), 1, 50, 20), "{}");
        try (ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress("127.0.0.1", 0));
            int port = taken.getLocalPort();
            assertThatThrownBy(() ->
                            FeedNode.acquire(feed.spec(), TestFeed.options().withPorts(new PortRange(port, port))))
                    .isInstanceOf(PortTakenException.class)
                    .hasMessageContainingAll("port " + port, "taken", "--port")
                    .hasMessageNotContaining("\n");
            if (port < 65_000) {
                ServerOptions range = TestFeed.options().withPorts(new PortRange(port, port + 100));
                try (NodeLease node = FeedNode.acquire(feed.spec(), range)) {
                    assertThat(node.address()).isNotEqualTo("127.0.0.1:" + port);
                }
            }
        }
    }

    @Test
    void refusesAWorkingMemoryThatIsTooSmallAndNamesTheSetting(@TempDir Path directory) throws IOException {
        TestFeed feed = new TestFeed(TestDataset.create(directory.resolve("data"), 1, 50, 20, 20, 20, 20), "{}");
        assertThatThrownBy(
                        () -> FeedNode.acquire(feed.spec(), TestFeed.options().withLimits(1, 1000, 1, 1)))
                .hasMessageContainingAll("--working-memory", "--shuffle-window", "train");
    }

    @Test
    void refusesADatasetThatIsAnother(@TempDir Path directory) throws IOException {
        TestDataset one = TestDataset.create(directory.resolve("one"), 1, 50, 20);
        TestDataset two = TestDataset.create(directory.resolve("two"), 2, 50, 20);
        FeedSpec spec = new TestFeed(one, "{}").spec();
        StreamSpec wrong = new StreamSpec("train", two.path().toString(), one.id(), 1, "train");
        assertThatThrownBy(() -> FeedNode.acquire(
                        new FeedSpec(
                                spec.id(),
                                "test",
                                List.of(wrong),
                                "{}",
                                List.of(),
                                OptionalLong.empty(),
                                OnCorrupt.FAIL),
                        TestFeed.options()))
                .hasMessageContainingAll(one.id().toString(), two.id().toString());
    }
}
