package dev.stoker.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.file.Path;
import java.util.Random;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TlsRecordsTest {
    @TempDir
    private static Path directory;

    private static SSLContext context;

    /** One direction of a connection that delivers a few bytes at a time. */
    private static final class Pipe implements ReadableByteChannel {
        private final ByteBuffer bytes = ByteBuffer.allocate(1 << 20).limit(0);
        private final int step;

        private Pipe(int step) {
            this.step = step;
        }

        private boolean take(ByteBuffer from) {
            bytes.compact();
            bytes.put(from);
            bytes.flip();
            return true;
        }

        @Override
        public int read(ByteBuffer to) {
            int count = Math.min(step, Math.min(bytes.remaining(), to.remaining()));
            to.put(bytes.slice(bytes.position(), count));
            bytes.position(bytes.position() + count);
            return count;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }

    private final Random random = new Random(3);

    @BeforeAll
    static void make() throws Exception {
        TestCertificate made = TestCertificate.make(directory, "ec");
        context = made.showing(made);
    }

    private static SSLEngine engine(boolean isClient, String version) {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(isClient);
        engine.setEnabledProtocols(new String[] {version});
        return engine;
    }

    private static TlsRecords records(boolean isClient, String version) throws SSLException {
        return new TlsRecords(engine(isClient, version), isClient ? "feeder" : "trainer", 1, (handshake, since) -> {});
    }

    /** Performs steps of the handshake of one side until it needs more bytes. */
    private static void shake(TlsRecords one, Pipe in, Pipe out) throws IOException {
        boolean progress = true;
        while (progress && !one.isEstablished()) {
            progress = one.handshake() || one.receive(in) > 0;
            out.take(one.pending());
        }
    }

    private static void shakeHands(TlsRecords client, TlsRecords server, Pipe up, Pipe down) throws IOException {
        for (int i = 0; i < 10_000 && !(client.isEstablished() && server.isEstablished()); i++) {
            shake(client, down, up);
            shake(server, up, down);
        }
        assertThat(client.isEstablished()).isTrue();
        assertThat(server.isEstablished()).isTrue();
    }

    private static byte[] read(TlsRecords from, Pipe in, int length, int room) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(length);
        ByteBuffer part = ByteBuffer.allocate(room);
        while (all.hasRemaining()) {
            int count = from.read(part.clear().limit(Math.min(room, all.remaining())));
            if (count > 0) {
                all.put(part.flip());
            } else {
                assertThat(from.receive(in)).isPositive();
            }
        }
        return all.array();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void dataOfWholeRecordsLeavesNoSmallRecord(String version) throws Exception {
        TlsRecords client = records(true, version);
        TlsRecords server = records(false, version);
        Pipe up = new Pipe(1 << 20);
        Pipe down = new Pipe(1 << 20);
        shakeHands(client, server, up, down);
        down.take(server.pending());
        server.wrap(ByteBuffer.allocate(1 << 16));
        int record = server.recordBytes();
        assertThat(record).isBetween(16_000, 16_384);
        ByteBuffer from = ByteBuffer.allocate(3 * record);
        server.reserve(4);
        int records = 0;
        while (from.hasRemaining()) {
            server.wrap(from);
            records++;
        }
        assertThat(records).isEqualTo(3);
        assertThat(server.recordBytes()).isEqualTo(record);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
    void whatOneSideWrapsTheOtherReadsInPiecesOfAnySize(String version) throws Exception {
        for (int step : new int[] {1, 700, 1 << 20}) {
            TlsRecords client = records(true, version);
            TlsRecords server = records(false, version);
            Pipe up = new Pipe(step);
            Pipe down = new Pipe(step);
            shakeHands(client, server, up, down);
            byte[] data = new byte[100_000];
            random.nextBytes(data);
            server.reserve(4);
            ByteBuffer from = ByteBuffer.wrap(data);
            while (from.hasRemaining()) {
                if (!server.hasRoom()) {
                    down.take(server.pending());
                }
                assertThat(server.wrap(from)).isTrue();
            }
            down.take(server.pending());
            int room = step == 1 ? 40_000 : 999;
            assertThat(read(client, down, data.length, room)).isEqualTo(data);

            server.close(() -> down.take(server.pending()));
            ByteBuffer rest = ByteBuffer.allocate(1 << 16);
            int count = 0;
            while (count == 0) {
                count = client.read(rest);
                if (count == 0) {
                    assertThat(client.receive(down)).isPositive();
                }
            }
            assertThat(count).as("the end").isEqualTo(-1);
            assertThat(server.wrap(ByteBuffer.wrap(data)))
                    .as("nothing follows the end")
                    .isFalse();
        }
    }

    @Test
    void countsRecordsWithoutDataSinceTheLastWrite() throws Exception {
        int[] most = {0};
        TlsRecords server = new TlsRecords(engine(false, "TLSv1.3"), "trainer", 1, (isHandshake, since) -> {
            if (!isHandshake) {
                most[0] = Math.max(most[0], since);
                if (since > 3) {
                    throw new SSLException("too many");
                }
            }
        });
        SSLEngine engine = engine(true, "TLSv1.3");
        TlsRecords client = new TlsRecords(engine, "feeder", 1, (isHandshake, since) -> {});
        Pipe up = new Pipe(1 << 20);
        Pipe down = new Pipe(1 << 20);
        shakeHands(client, server, up, down);
        // A second handshake of TLS 1.3 is a KeyUpdate.
        ByteBuffer rest = ByteBuffer.allocate(1 << 16);
        for (int i = 0; i < 3; i++) {
            update(engine, client, up);
            server.receive(up);
            assertThat(server.read(rest)).isZero();
        }
        assertThat(most[0]).isPositive().isLessThanOrEqualTo(3);
        server.wrap(ByteBuffer.wrap(new byte[10]));
        most[0] = 0;
        update(engine, client, up);
        server.receive(up);
        server.read(rest);
        assertThat(most[0]).as("a write starts again").isEqualTo(1);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 5; i++) {
                        update(engine, client, up);
                        server.receive(up);
                        server.read(rest);
                    }
                })
                .isInstanceOf(SSLException.class)
                .hasMessage("too many");
    }

    private static void update(SSLEngine engine, TlsRecords client, Pipe up) throws IOException {
        engine.beginHandshake();
        client.wrap(ByteBuffer.allocate(0));
        up.take(client.pending());
    }
}
