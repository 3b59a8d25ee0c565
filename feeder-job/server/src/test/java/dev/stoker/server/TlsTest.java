package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.security.TlsFiles;
import dev.stoker.transport.TestCertificate;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.security.cert.Certificate;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A feed under TLS: authorized clients get the same batches as without TLS, and other clients get no byte. */
class TlsTest {
    private static final int KEY_LIMIT_BYTES = 128 << 10;

    static {
        // Before TLS is first used: the keys of a session change every 128 KiB instead of every 128 GiB.
        Security.setProperty("jdk.tls.keyLimits", "AES/GCM/NoPadding KeyUpdate " + KEY_LIMIT_BYTES);
    }

    @TempDir
    static Path certificates;

    private static TestCertificate feeder;
    private static TestCertificate renewed;
    private static TestCertificate trainer;
    private static TestCertificate stranger;

    @TempDir
    Path directory;

    private TestFeed feed;
    private long subscriptions;

    @BeforeAll
    static void makeCertificates() throws Exception {
        feeder = TestCertificate.make(certificates, "feeder");
        renewed = TestCertificate.make(certificates, "renewed");
        trainer = TestCertificate.make(certificates, "trainer");
        stranger = TestCertificate.make(certificates, "stranger");
    }

    @BeforeEach
    void makeDataset() throws IOException {
        TestDataset dataset = TestDataset.create(directory.resolve("data"), 3, 30_000, 20, 25, 30);
        feed = new TestFeed(dataset, "{\"batch_size\":16,\"lanes\":2}");
        feed.access = access(feeder.pem(), feeder.key(), Optional.empty());
    }

    private static ServerSecurity access(Path certificate, Path key, Optional<Path> clientCa) {
        return new ServerSecurity(Optional.empty(), Optional.of(new TlsFiles(certificate, key, clientCa)), false);
    }

    private Subscribe all() {
        return new Subscribe(++subscriptions, 0, 0, 1, feed.streamOrder.size().batches(), TailPolicy.KEEP, List.of());
    }

    private static RawClient joined(NodeLease node, SSLContext tls) throws IOException {
        RawClient client = RawClient.connect(node.address(), tls);
        client.join(RawClient.hello());
        return client;
    }

    @Test
    void batchesAreTheSameBytesThroughManyChangesOfKeys() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = joined(node, feeder.trusting())) {
            assertThat(((SSLSocket) client.socket()).getSession().getProtocol()).isEqualTo("TLSv1.3");
            for (int i = 0; i < 3; i++) {
                assertThat(feed.readAll(client, all())).isNotEmpty();
            }
            assertThat(node.metrics().bytes()).as("several keys' worth").isGreaterThan(1 << 20);
        }
    }

    @Test
    void version12IsServedAndOlderOnesAreNot() throws Exception {
        try (NodeLease node = feed.start()) {
            try (RawClient client = RawClient.connect(node.address(), feeder.trusting())) {
                ((SSLSocket) client.socket()).setEnabledProtocols(new String[] {"TLSv1.2"});
                client.join(RawClient.hello());
                Subscribe subscribe = all();
                client.send(subscribe);
                // One piece may exceed what a key may encrypt; the session ends behind it.
                client.send(new Grant(subscribe.subscription(), 1));
                feed.verify(client.expect(Batch.class), subscribe.tail());
            }
            try (RawClient client = RawClient.connect(node.address(), feeder.trusting())) {
                assertThatThrownBy(() -> {
                            ((SSLSocket) client.socket()).setEnabledProtocols(new String[] {"TLSv1.1"});
                            client.join(RawClient.hello());
                        })
                        .isInstanceOfAny(SSLException.class, IllegalArgumentException.class);
            }
        }
    }

    @Test
    void aSessionOfVersion12EndsBeforeItsKeyEncryptsMoreThanAllowed() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address(), feeder.trusting())) {
            ((SSLSocket) client.socket()).setEnabledProtocols(new String[] {"TLSv1.2"});
            client.join(RawClient.hello());
            Subscribe subscribe = all();
            client.send(subscribe);
            client.send(new Grant(subscribe.subscription(), subscribe.count()));
            long bytes = 0;
            long largest = 0;
            Frame frame = client.receive();
            while (!(frame instanceof Bye)) {
                if (frame instanceof Batch batch) {
                    assertThat(batch.isIntact()).isTrue();
                    bytes += batch.message().remaining();
                    largest = Math.max(largest, batch.message().remaining());
                }
                frame = client.receive();
            }
            assertThat(bytes).isBetween(KEY_LIMIT_BYTES - 10_000L, KEY_LIMIT_BYTES + largest);
            assertThatThrownBy(client::receive).isInstanceOf(EOFException.class);
        }
    }

    @Test
    void manyFramesAtOnceAreAllRead() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = joined(node, feeder.trusting())) {
            ByteArrayOutputStream pings = new ByteArrayOutputStream();
            for (int i = 0; i < 5000; i++) {
                pings.writeBytes(Frames.encode(new Ping(i)).array());
            }
            client.sendRaw(pings.toByteArray(), 0, pings.size());
            for (int i = 0; i < 5000; i++) {
                assertThat(client.receive()).isEqualTo(new Pong(i));
            }
        }
    }

    @Test
    void helloMayComeInPieces() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address(), feeder.trusting())) {
            byte[] hello = Frames.encode(RawClient.hello()).array();
            for (int i = 0; i < hello.length; i++) {
                client.sendRaw(hello, i, 1);
            }
            client.expect(Welcome.class);
        }
    }

    @Test
    void refusalsAreEncryptedToo() throws Exception {
        feed.access = new ServerSecurity(Optional.of(FeedToken.of("secret")), feed.access.tls(), false);
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address(), feeder.trusting())) {
            assertThatThrownBy(() -> client.join(RawClient.hello())).hasMessageStartingWith("unauthorized");
            assertThatThrownBy(client::receive).isInstanceOf(EOFException.class);
        }
    }

    @Test
    void plainTextIsToldSoAndGetsNothingElse() throws Exception {
        try (NodeLease node = feed.start()) {
            try (RawClient client = RawClient.connect(node.address())) {
                assertThatThrownBy(() -> client.join(RawClient.hello()))
                        .hasMessageStartingWith("unauthorized")
                        .hasMessageContainingAll("TLS", "STOKER_TLS_CA");
                assertThatThrownBy(client::receive).isInstanceOf(EOFException.class);
            }
            try (RawClient client = RawClient.connect(node.address())) {
                byte[] http = "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
                client.sendRaw(http, 0, http.length);
                assertThat(client.receive()).isInstanceOf(ErrorMessage.class);
            }
            assertThat(node.metrics().rejected()).isEqualTo(2);
            assertThat(node.metrics().sessions()).isZero();
        }
    }

    @Test
    void tlsToAPlainFeedFailsAtOnce() throws Exception {
        feed.access = ServerSecurity.open();
        try (NodeLease node = feed.start();
                RawClient client = RawClient.connect(node.address(), feeder.trusting())) {
            assertThatThrownBy(() -> client.join(RawClient.hello())).isInstanceOf(SSLException.class);
            assertThat(node.metrics().sessions()).isZero();
        }
    }

    @Test
    void onlyTrainersWithTheRightCertificateComeIn() throws Exception {
        feed.access = access(feeder.pem(), feeder.key(), Optional.of(trainer.pem()));
        try (NodeLease node = feed.start()) {
            for (SSLContext wrong : List.of(feeder.trusting(), stranger.showing(feeder))) {
                try (RawClient client = RawClient.connect(node.address(), wrong)) {
                    assertThatThrownBy(() -> client.join(RawClient.hello()))
                            .isInstanceOfAny(SSLException.class, SocketException.class)
                            .isNotInstanceOf(RawClient.Ended.class);
                }
            }
            assertThat(node.metrics().sessions()).isZero();
            try (RawClient client = joined(node, trainer.showing(feeder))) {
                assertThat(feed.readAll(client, all())).isNotEmpty();
            }
        }
    }

    @Test
    void renewedFilesAreTakenOverAndOldSessionsLiveOn() throws Exception {
        Path pem = directory.resolve("own.pem");
        Path key = directory.resolve("own.key");
        feeder.copyTo(pem, key);
        feed.access = access(pem, key, Optional.empty());
        try (NodeLease node = feed.start();
                RawClient old = joined(node, feeder.trusting())) {
            renewed.copyTo(pem, key);
            Waiting.until(() -> renewed.equals(shown(node)));
            assertThatThrownBy(() -> joined(node, feeder.trusting())).isInstanceOf(SSLException.class);
            assertThat(feed.readAll(old, all())).isNotEmpty();

            Files.writeString(pem, "no certificate any more");
            String rejected = "still";
            // The renewed one stays in force however often a connection looks.
            long end = System.nanoTime() + 1_500_000_000L;
            while (System.nanoTime() < end) {
                assertThat(renewed.equals(shown(node))).as(rejected).isTrue();
            }
            feeder.copyTo(pem, key);
            Waiting.until(() -> feeder.equals(shown(node)));
        }
    }

    /** Whose certificate a new connection is shown; null if it was another each time. */
    private static TestCertificate shown(NodeLease node) {
        for (TestCertificate candidate : List.of(feeder, renewed)) {
            try (RawClient client = RawClient.connect(node.address(), candidate.trusting())) {
                ((SSLSocket) client.socket()).startHandshake();
                Certificate[] chain = ((SSLSocket) client.socket()).getSession().getPeerCertificates();
                assertThat(chain[0]).isEqualTo(candidate.certificate());
                return candidate;
            } catch (SSLException e) {
                // The node shows another certificate.
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        // It changed between the two.
        return null;
    }

    @Test
    void aMappedFileThatIsTruncatedEndsInATypedErrorAndNotTheProcess() throws Exception {
        try (NodeLease node = feed.start();
                RawClient client = joined(node, feeder.trusting())) {
            assertThat(feed.readAll(client, all())).isNotEmpty();
            try (RandomAccessFile file =
                    new RandomAccessFile(feed.dataset.file(0).toFile(), "rw")) {
                file.setLength(8192);
            }
            Subscribe subscribe = all();
            client.send(subscribe);
            client.send(new Grant(subscribe.subscription(), subscribe.count()));
            int damaged = 0;
            Frame frame = client.receive();
            while (!(frame instanceof ErrorMessage)) {
                if (frame instanceof Batch batch && !batch.isIntact()) {
                    BatchIdentity id = batch.header().identity();
                    client.send(new Nack(subscribe.subscription(), id.epoch(), id.number(), id.piece(), 0));
                    damaged++;
                }
                frame = client.receive();
            }
            assertThat(damaged).isPositive();
            assertThat(((ErrorMessage) frame).message())
                    .contains(feed.dataset.file(0).getFileName().toString());
        }
    }

    @Test
    void handshakesThatNeverEndKeepNobodyOut() throws Exception {
        try (NodeLease node = feed.start()) {
            Socket[] silent = new Socket[300];
            try {
                for (int i = 0; i < silent.length; i++) {
                    int colon = node.address().lastIndexOf(':');
                    silent[i] = new Socket(
                            node.address().substring(0, colon),
                            Integer.parseInt(node.address().substring(colon + 1)));
                    silent[i].getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1});
                }
                joined(node, feeder.trusting()).close();
            } finally {
                for (Socket socket : silent) {
                    if (socket != null) {
                        socket.close();
                    }
                }
            }
        }
    }

    @Test
    void sessionsLeaveNoDescriptorsBehind() throws Exception {
        try (NodeLease node = feed.start()) {
            // The first one also opens the chunks.
            try (RawClient client = joined(node, feeder.trusting())) {
                feed.readAll(client, all());
            }
            Waiting.until(() -> node.metrics().sessions() == 0);
            long before = descriptors();
            for (int i = 0; i < 20; i++) {
                try (RawClient client = joined(node, feeder.trusting())) {
                    feed.readAll(client, all());
                }
            }
            Waiting.until(() -> descriptors() <= before);
        }
    }

    private static long descriptors() {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
