package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.testing.Rounds;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Tests that invalid input ends the session of its sender, and no other session. */
class GarbageTest {
    @TempDir
    Path directory;

    private TestFeed feed;
    private NodeLease node;
    /** A well-behaved trainer that must not notice anything. */
    private RawClient witness;

    private long witnessed;

    @BeforeEach
    void start() throws IOException {
        feed = new TestFeed(
                TestDataset.create(directory.resolve("data"), 1, 50, 20, 20), "{\"batch_size\":4,\"lanes\":2}");
        node = feed.start();
        witness = RawClient.connect(node.address());
        witness.join(RawClient.hello());
    }

    @AfterEach
    void theWitnessIsServedAsBefore() throws IOException {
        assertThat(feed.readAll(witness, new Subscribe(++witnessed, 0, 0, 1, 10, TailPolicy.KEEP, List.of())))
                .hasSize(10);
        witness.close();
        node.close();
    }

    private void endsWith(RawClient client, String code) throws IOException {
        assertThatThrownBy(() -> client.expect(LaneMap.class))
                .satisfiesAnyOf(
                        e -> assertThat(e).hasMessageStartingWith(code),
                        // A peer that continues to send may lose the error to a reset.
                        e -> assertThat(e).isInstanceOfAny(EOFException.class, SocketException.class));
    }

    private static byte[] frame(int length, int type, int flags, byte... body) {
        ByteBuffer out = ByteBuffer.allocate(8 + body.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(length)
                .put((byte) type)
                .put((byte) flags)
                .putShort((short) 0)
                .put(body);
        return out.array();
    }

    @Test
    void malformedFirstFramesAreAnsweredAndClosed() throws IOException {
        List<byte[]> garbage = new ArrayList<>(List.of(
                "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                frame(Integer.MAX_VALUE, 1, 0),
                frame(-1, 1, 0),
                frame(0, 1, 0),
                frame(3, 1, 0),
                frame(16385, 1, 0),
                frame(20, 4, 0, new byte[16]),
                frame(4, 99, 0),
                frame(12, 1, 1, new byte[8]),
                frame(12, 1, 0, new byte[8]),
                frame(12, 5, 0, new byte[8])));
        byte[] hello = Frames.encode(RawClient.hello()).array();
        for (int i : new int[] {8, 12, 16, hello.length - 1}) {
            byte[] damaged = hello.clone();
            damaged[i] ^= 0x40;
            garbage.add(damaged);
            byte[] sealed = damaged.clone();
            ByteBuffer bytes = ByteBuffer.wrap(sealed).order(ByteOrder.LITTLE_ENDIAN);
            bytes.putInt(sealed.length - 4, Crc32cs.of(bytes.slice(4, sealed.length - 8)));
            if (i < sealed.length - 4) {
                garbage.add(sealed);
            }
        }
        for (byte[] bytes : garbage) {
            try (RawClient client = RawClient.connect(node.address())) {
                client.sendRaw(bytes, 0, bytes.length);
                endsWith(client, "");
                assertThatThrownBy(client::receive).isInstanceOfAny(EOFException.class, SocketException.class);
            }
        }
        assertThat(node.metrics().sessions()).isEqualTo(1);
    }

    @Test
    void malformedFramesAfterWelcomeEndTheSession() throws IOException {
        List<byte[]> garbage = List.of(
                frame(Integer.MAX_VALUE, 6, 0),
                frame((1 << 20) + 1, 6, 0),
                frame(4, 0, 0),
                frame(4, 200, 0),
                frame(20, 4, 7, new byte[16]),
                frame(19, 4, 0, new byte[15]),
                frame(12, 2, 0, new byte[8]),
                frame(12, 7, 0, new byte[8]),
                Frames.encode(RawClient.hello()).array());
        for (byte[] bytes : garbage) {
            try (RawClient client = joined()) {
                client.sendRaw(bytes, 0, bytes.length);
                endsWith(client, "bad_frame");
            }
        }
    }

    @Test
    void framesThatMakeNoSenseEndTheSession() throws IOException {
        long end = feed.streamOrder.size().batches();
        List<Frame> senseless = List.of(
                new Subscribe(1, 0, 0, 2, 1, TailPolicy.PAD, List.of()),
                new Subscribe(1, 0, 0, 1, end + 1, TailPolicy.KEEP, List.of()),
                new Subscribe(1, 0, end, 1, 1, TailPolicy.DROP, List.of()),
                new Subscribe(1, 0, 0, 1, 1L << 60, TailPolicy.PAD, List.of()),
                new Subscribe(1, 0, 0, 1, 1, TailPolicy.PAD, List.of(7)),
                new Ack(1, 0, List.of(new AckEntry(end + 1, 0, false, 0, 4, 0, 4, 0))));
        for (Frame frame : senseless) {
            try (RawClient client = joined()) {
                client.send(frame);
                endsWith(client, "bad_frame");
            }
        }
        try (RawClient client = joined()) {
            client.send(new Subscribe(1, 0, 0, 1, 4, TailPolicy.PAD, List.of()));
            client.send(new Nack(1, 0, 2, 0, 0));
            endsWith(client, "bad_frame");
        }
    }

    @Test
    void grantsAndNacksOfEarlierSubscriptionsAreIgnored() throws IOException {
        try (RawClient client = joined()) {
            client.send(new Subscribe(1, 0, 0, 1, 4, TailPolicy.PAD, List.of()));
            client.send(new Subscribe(2, 0, 0, 1, 4, TailPolicy.PAD, List.of()));
            client.send(new Grant(1, 3));
            client.send(new Nack(1, 0, 0, 0, 0));
            client.send(new Ping(77));
            assertThat(client.receive()).isEqualTo(new Pong(77));
        }
    }

    @Test
    void randomBytesNeverHurtAnyoneElse(TestInfo test) {
        Rounds.of(test).seconds(1).atLeast(100).run((random, round) -> {
            byte[] bytes = new byte[1 + random.nextInt(400)];
            random.nextBytes(bytes);
            boolean welcomed = random.nextBoolean();
            try (RawClient client = welcomed ? joined() : RawClient.connect(node.address())) {
                client.sendRaw(bytes, 0, bytes.length);
                client.socket().shutdownOutput();
                while (!(client.receive() instanceof ErrorMessage)) {
                    // Another answer than an error.
                }
            } catch (EOFException | SocketException e) {
                // Closed without an error frame, like a connection with an incomplete frame.
            }
        });
        Waiting.until(() -> node.metrics().sessions() == 1);
    }

    @Test
    void thousandsOfSilentConnectionsKeepNobodyOut() throws IOException {
        List<RawClient> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 1500; i++) {
                RawClient client = RawClient.connect(node.address());
                silent.add(client);
                client.sendRaw(frame(16384, 1, 0, new byte[16]), 0, 20);
            }
            joined().close();
            assertThat(node.metrics().rejected()).isGreaterThan(1000);
        } finally {
            for (RawClient client : silent) {
                client.close();
            }
        }
    }

    @Test
    void aPeerThatAsksButNeverReadsIsNotListenedToForEver() throws IOException {
        int colon = node.address().lastIndexOf(':');
        try (SocketChannel channel = SocketChannel.open(new InetSocketAddress(
                node.address().substring(0, colon),
                Integer.parseInt(node.address().substring(colon + 1))))) {
            channel.write(Frames.encode(named()));
            Waiting.until(() -> node.metrics().sessions() == 2);
            // WELCOME may arrive late, and a PING before it would be invalid.
            channel.read(ByteBuffer.allocate(8));
            channel.configureBlocking(false);
            byte[] ping = Frames.encode(new Ping(1)).array();
            ByteBuffer pings = ByteBuffer.allocate(ping.length * 1000);
            for (int i = 0; i < 1000; i++) {
                pings.put(ping);
            }
            pings.flip();
            long sent = 0;
            long fullSinceNanos = 0;
            while (fullSinceNanos == 0 || System.nanoTime() - fullSinceNanos < 500_000_000L) {
                int n = channel.write(pings);
                if (!pings.hasRemaining()) {
                    pings.rewind();
                }
                sent += n;
                if (n > 0) {
                    fullSinceNanos = 0;
                } else if (fullSinceNanos == 0) {
                    fullSinceNanos = System.nanoTime();
                }
                assertThat(sent).as("bytes taken").isLessThan(64L << 20);
            }
        }
    }

    private RawClient joined() throws IOException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (true) {
            RawClient client = RawClient.connect(node.address());
            try {
                client.join(named());
                return client;
            } catch (RawClient.Ended e) {
                client.close();
                // The session before may still be closing.
                if (!e.code().equals("place_taken") || System.nanoTime() > deadlineNs) {
                    throw e;
                }
            }
        }
    }

    private static Hello named() {
        Hello hello = RawClient.hello();
        return new Hello(
                hello.token(),
                hello.client(),
                new Hello.PassRequest(
                        hello.pass().feed(),
                        hello.pass().stream(),
                        "garbage",
                        hello.pass().order()),
                hello.participant(),
                0,
                0);
    }
}
