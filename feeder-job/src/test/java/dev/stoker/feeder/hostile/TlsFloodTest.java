package dev.stoker.feeder.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.server.HonestTrainer;
import dev.stoker.server.Waiting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers that speak TLS and send what costs the feeder work or memory without end. */
@Timeout(100)
class TlsFloodTest {
    /** What the small heap and a JVM take up; a flood without bounds needs some hundred megabytes more. */
    private static final long ENOUGH_BYTES = 400L << 20;
    /** Of a flood: a feeder that takes that many has no bounds. */
    private static final int RECORDS = 100_000;

    @TempDir
    Path directory;

    private SmallFeeder feeder;
    private HonestTrainer honest;

    @BeforeEach
    void start() throws Exception {
        feeder = SmallFeeder.start(directory, "-Xmx64m");
        honest = trainer("honest");
    }

    @AfterEach
    void honestTrainersDoNotNotice() throws Exception {
        feeder.requireAlive();
        honest.finish();
        assertThat(feeder.residentBytes()).isLessThan(ENOUGH_BYTES);
        honest.close();
        feeder.close();
    }

    private HonestTrainer trainer(String group) throws Exception {
        return new HonestTrainer(feeder.tlsFeed(), feeder.tlsAddress(), Optional.of(feeder.trusting()), group);
    }

    /** A TLS peer that sends records at will and never reads after the handshake. */
    private static final class Peer implements AutoCloseable {
        private final SocketChannel channel;
        private final SSLEngine engine;
        private final ByteBuffer out;
        private final ByteBuffer in;
        private final ByteBuffer plain;

        Peer(String address, SSLContext context) throws IOException {
            int colon = address.lastIndexOf(':');
            channel = SocketChannel.open(
                    new InetSocketAddress(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))));
            engine = context.createSSLEngine();
            engine.setUseClientMode(true);
            int packet = engine.getSession().getPacketBufferSize();
            out = ByteBuffer.allocate(16 * packet);
            in = ByteBuffer.allocate(2 * packet);
            plain = ByteBuffer.allocate(2 * packet);
            engine.beginHandshake();
            record();
        }

        void shakeHands() throws IOException {
            flush();
            while (engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING) {
                switch (engine.getHandshakeStatus()) {
                    case NEED_TASK -> engine.getDelegatedTask().run();
                    case NEED_WRAP -> {
                        record();
                        flush();
                    }
                    default -> unwrap();
                }
            }
        }

        private void unwrap() throws IOException {
            in.flip();
            boolean isShort = engine.unwrap(in, plain.clear()).bytesConsumed() == 0
                    && engine.getHandshakeStatus() == HandshakeStatus.NEED_UNWRAP;
            in.compact();
            if (isShort && channel.read(in) < 0) {
                throw new IOException("closed");
            }
        }

        void raw(byte[] record) {
            out.put(record);
        }

        private void record() throws IOException {
            engine.wrap(ByteBuffer.allocate(0), out);
        }

        void data(byte... bytes) throws IOException {
            engine.wrap(ByteBuffer.wrap(bytes), out);
        }

        /** New keys, and the wish that the other side changes its own. */
        void keyUpdate() throws IOException {
            engine.beginHandshake();
            do {
                record();
            } while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP);
        }

        void flush() throws IOException {
            out.flip();
            while (out.hasRemaining()) {
                channel.write(out);
            }
            out.clear();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    /** Adds one record to what a peer sends. */
    private interface Flood {
        void add(Peer peer) throws IOException;
    }

    /** Sends records until the feeder hangs up; returns how many it took. */
    private static int send(Peer peer, Flood flood) {
        int sent = 0;
        try {
            while (sent < RECORDS) {
                for (int i = 0; i < 50; i++) {
                    flood.add(peer);
                    sent++;
                }
                peer.flush();
            }
        } catch (IOException e) {
            // The feeder hung up.
        }
        return sent;
    }

    /**
     * Floods over one connection after another, while new trainers connect and read.
     *
     * @param greeting sent behind the handshake; null to flood behind its first message
     */
    private void attack(byte[] greeting, Flood flood) throws Exception {
        SSLContext context = feeder.trusting();
        AtomicBoolean stop = new AtomicBoolean();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger floods = new AtomicInteger();
        Thread attacker = new Thread(() -> {
            while (!stop.get()) {
                try (Peer peer = new Peer(feeder.tlsAddress(), context)) {
                    if (greeting != null) {
                        peer.shakeHands();
                        peer.data(greeting);
                    }
                    peer.flush();
                    int sent = send(peer, flood);
                    most.accumulateAndGet(sent, Math::max);
                    floods.incrementAndGet();
                } catch (IOException e) {
                    // Hung up early.
                }
            }
        });
        attacker.start();
        try {
            for (int i = 0; i < 5; i++) {
                try (HonestTrainer late = trainer("late-" + i)) {
                    late.finish();
                }
            }
            Waiting.until(() -> floods.get() > 2);
        } finally {
            stop.set(true);
            attacker.join();
        }
        assertThat(most.get()).isLessThan(RECORDS);
    }

    private static final byte[] NOTHING = {};

    private static byte[] hello() {
        ByteBuffer frame = Frames.encode(HonestTrainer.hello("flood"));
        byte[] bytes = new byte[frame.remaining()];
        frame.get(bytes);
        return bytes;
    }

    @Test
    @Tag("full-feeds")
    void keyUpdatesBeforeHelloEndTheConnection() throws Exception {
        attack(NOTHING, Peer::keyUpdate);
    }

    @Test
    void recordsThatMeanNothingWithinTheHandshakeEndTheConnection() throws Exception {
        // TLS 1.3 has a peer ignore them.
        byte[] changeCipherSpec = {20, 3, 3, 0, 1, 1};
        ByteBuffer many = ByteBuffer.allocate(500 * changeCipherSpec.length);
        while (many.hasRemaining()) {
            many.put(changeCipherSpec);
        }
        attack(null, peer -> peer.raw(many.array()));
    }

    @Test
    @Tag("full-feeds")
    void partsOfAHelloDoNotMakeKeyUpdatesAllowed() throws Exception {
        // The length of a frame that is allowed and never completed.
        attack(new byte[] {0, 16, 0, 0}, Peer::keyUpdate);
    }

    @Test
    void keyUpdatesWithinASessionEndIt() throws Exception {
        attack(hello(), Peer::keyUpdate);
    }

    @Test
    @Tag("full-feeds")
    void keyUpdatesBetweenFramesThatHaveNoAnswerEndTheSession() throws Exception {
        ByteBuffer frame = Frames.encode(new Grant(7, 0));
        byte[] grant = new byte[frame.remaining()];
        frame.get(grant);
        attack(hello(), peer -> {
            peer.keyUpdate();
            peer.data(grant);
        });
    }
}
