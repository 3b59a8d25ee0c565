package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.Stoker;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.TestDataset;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.security.TlsFiles;
import dev.stoker.transport.TestCertificate;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class WaitVerbTest {

    @TempDir
    private Path directory;

    private final StringWriter said = new StringWriter();
    private TestDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("photos"), 3, 100, 5, 4);
    }

    private int await(String feed, int seconds) {
        PrintWriter all = new PrintWriter(said, true);
        return Stoker.run(List.of("wait", feed, "--timeout", seconds + "s"), all, all);
    }

    private NodeLease serve(ServerOptions options) throws IOException {
        FeedSpec spec = new FeedSpec(
                UUID.randomUUID(),
                "photos",
                List.of(dataset.stream("train")),
                OrderSpec.defaults().toJson(),
                List.of(),
                OptionalLong.empty(),
                OnCorrupt.FAIL);
        return FeedNode.acquire(spec, options);
    }

    private static ServerOptions options() {
        return ServerOptions.defaults().withPorts(PortRange.ANY).withLinger(Duration.ZERO);
    }

    @Test
    void isQuietWhenTheFeedServesAndTakesNoSeat() throws IOException {
        try (NodeLease node = serve(options())) {
            assertThat(await(node.address(), 60)).isZero();
            assertThat(node.groupFacts()).isEmpty();
        }
        assertThat(said.toString()).isEmpty();
    }

    @Test
    void needsNeitherTokenNorCertificate() throws Exception {
        TestCertificate own = TestCertificate.make(directory, "feeder");
        ServerSecurity mutual = new ServerSecurity(
                Optional.empty(), Optional.of(new TlsFiles(own.pem(), own.key(), Optional.of(own.pem()))), false);
        try (NodeLease node = serve(options().withAccess(mutual))) {
            assertThat(await(node.address(), 60)).isZero();
        }
        try (NodeLease node = serve(options().withToken("secret"))) {
            assertThat(await("127.0.0.1:1," + node.address(), 60)).isZero();
        }
        assertThat(said.toString()).isEmpty();
    }

    @Test
    void waitsForAFeedThatIsNotThereYet() throws Exception {
        String name = "awaited" + System.nanoTime();
        CompletableFuture<Integer> code = CompletableFuture.supplyAsync(() -> await(name, 100));
        Path file = StokerHome.feedFile(name);
        Files.createDirectories(file.getParent());
        try (NodeLease node = serve(options())) {
            Path whole = Files.writeString(directory.resolve("feed"), "{\"addresses\":[\"" + node.address() + "\"]}");
            Files.move(whole, file);
            assertThat(code.get()).isZero();
        } finally {
            Files.deleteIfExists(file);
        }
    }

    @Test
    void somethingElseThatListensIsNoFeed() throws IOException {
        try (ServerSocket other = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            String address = "127.0.0.1:" + other.getLocalPort();
            assertThat(await(address, 0)).isEqualTo(1);
            assertThat(said.toString()).contains("no feeder answers at " + address, "--timeout");
        }
    }

    @Test
    void saysWhatIsMissing() {
        assertThat(await("never-heard-of", 0)).isEqualTo(1);
        assertThat(said.toString()).contains("no feed of this name has started on this machine");
        assertThat(await("nonsense:port", 0)).isEqualTo(2);
    }
}
