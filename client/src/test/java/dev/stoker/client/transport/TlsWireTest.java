package dev.stoker.client.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.transport.TestCertificate;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes in both directions, in pieces of every size. */
@Timeout(120)
class TlsWireTest {
    private static final int BYTES = 5_000_003;

    @TempDir
    private Path directory;

    private static byte[] random(int seed) {
        byte[] bytes = new byte[BYTES];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void everyByteArrivesInBothDirections(String version) throws Exception {
        TestCertificate own = TestCertificate.makeFor(directory, "feeder-" + version, "dns:localhost");
        try (SSLServerSocket server = (SSLServerSocket)
                        own.showing(own).getServerSocketFactory().createServerSocket();
                SocketChannel channel = SocketChannel.open();
                Selector selector = Selector.open()) {
            server.setEnabledProtocols(new String[] {version});
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            CompletableFuture<byte[]> heard = CompletableFuture.supplyAsync(() -> serve(server));
            TlsWire wire = secured(channel, selector, server, own);
            SelectionKey key = channel.keyFor(selector);
            ByteBuffer out = ByteBuffer.wrap(random(1));
            ByteBuffer in = ByteBuffer.allocateDirect(BYTES);
            Random sizes = new Random(3);
            boolean hasEnded = false;
            while (!hasEnded) {
                wire.write(out);
                boolean isSent = wire.flush() && !out.hasRemaining();
                key.interestOps(isSent ? SelectionKey.OP_READ : SelectionKey.OP_READ | SelectionKey.OP_WRITE);
                selector.select(1000);
                selector.selectedKeys().clear();
                int count;
                do {
                    // Heads of a few bytes, and messages of more than a record.
                    int most = sizes.nextBoolean() ? 1 + sizes.nextInt(64) : 1 + sizes.nextInt(300_000);
                    in.limit(Math.min(BYTES, in.position() + most));
                    count = wire.read(in);
                } while (count > 0 && in.position() < BYTES);
                hasEnded = isSent && in.position() == BYTES;
            }
            assertThat(in.flip()).isEqualTo(ByteBuffer.wrap(random(2)));
            assertThat(heard.get(60, TimeUnit.SECONDS)).isEqualTo(random(1));
            wire.shutdownOutput();
        }
    }

    private static TlsWire secured(
            SocketChannel channel, Selector selector, SSLServerSocket server, TestCertificate own) throws IOException {
        channel.connect(server.getLocalSocketAddress());
        channel.configureBlocking(false);
        Tls tls =
                new Tls(Optional.of(own.pem()), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
        TlsWire wire = new TlsWire(channel, tls, "localhost:" + server.getLocalPort());
        SelectionKey key = channel.register(selector, 0);
        for (int awaited = wire.secure(); awaited != 0; awaited = wire.secure()) {
            key.interestOps(awaited);
            selector.select(1000);
            selector.selectedKeys().clear();
        }
        return wire;
    }

    @Test
    void aFeederThatOnlyChangesItsKeysIsLeft() throws Exception {
        TestCertificate own = TestCertificate.makeFor(directory, "feeder", "dns:localhost");
        try (SSLServerSocket server = (SSLServerSocket)
                        own.showing(own).getServerSocketFactory().createServerSocket();
                SocketChannel channel = SocketChannel.open();
                Selector selector = Selector.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread feeder = new Thread(() -> flood(server), "flood");
            feeder.setDaemon(true);
            feeder.start();
            TlsWire wire = secured(channel, selector, server, own);
            channel.keyFor(selector).interestOps(SelectionKey.OP_READ);
            assertThatThrownBy(() -> {
                        while (true) {
                            selector.select(1000);
                            selector.selectedKeys().clear();
                            if (wire.read(ByteBuffer.allocate(64)) < 0) {
                                throw new AssertionError("the feeder disconnected first");
                            }
                        }
                    })
                    .isInstanceOf(SSLException.class)
                    .hasMessageContaining("records without data, such as KeyUpdates");
        }
    }

    /** Changes its keys until the client hangs up. */
    private static void flood(SSLServerSocket server) {
        try (SSLSocket socket = (SSLSocket) server.accept()) {
            while (true) {
                // The handshake at first, a KeyUpdate each time after that.
                socket.startHandshake();
            }
        } catch (IOException e) {
            // It has hung up.
        }
    }

    /** Reads and sends at the same time; both sides send more than the sockets can buffer. */
    private static byte[] serve(SSLServerSocket server) {
        try (SSLSocket socket = (SSLSocket) server.accept()) {
            OutputStream out = socket.getOutputStream();
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    byte[] bytes = random(2);
                    for (int at = 0; at < BYTES; at += 70_000) {
                        out.write(bytes, at, Math.min(70_000, BYTES - at));
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            byte[] heard = socket.getInputStream().readNBytes(BYTES);
            sent.get(60, TimeUnit.SECONDS);
            return heard;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
