package dev.stoker.client.lookup;

import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.client.transport.PlainWire;
import dev.stoker.client.transport.Timing;
import dev.stoker.client.transport.Tls;
import dev.stoker.client.transport.TlsWire;
import dev.stoker.client.transport.Wire;
import dev.stoker.schemas.protocol.Entries;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.GetSamples;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.ListSamples;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Samples;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A connection to one feeder for requests, which takes no place in the feed. One thread at a time uses it. An
 * IOException means that the connection is lost.
 */
final class LookupSession implements Closeable {
    private static final int BUFFER = 256 << 10;
    private static final Duration STEP = Duration.ofMillis(250);
    private static final long MAX_REQUEST = 0xFFFF_FFFFL;

    /** Where a feeder is. {@code isUnix} says whether the place is a Unix-domain socket. */
    record Way(String address, SocketAddress place, boolean isUnix, Optional<Tls> tls) {}

    private final Way way;
    private final Timing timing;
    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final Wire wire;
    private final FrameDecoder decoder = FrameDecoder.forClient();
    private final ByteBuffer in = ByteBuffer.allocate(BUFFER).limit(0);
    private final Welcome welcome;
    private long requests;
    private long pings;

    /**
     * Connects and waits for the WELCOME.
     *
     * @throws RefusedException if the feeder refuses the session
     * @throws TlsException if the feeder is not trusted
     */
    LookupSession(Way way, Hello hello, Timing timing) throws IOException, RefusedException {
        this.way = way;
        this.timing = timing;
        this.selector = Selector.open();
        this.channel = openChannel(way, selector);
        try {
            channel.configureBlocking(false);
            boolean isConnected = channel.connect(way.place());
            key = channel.register(selector, isConnected ? 0 : SelectionKey.OP_CONNECT);
            long deadline = System.nanoTime() + timing.attempt().toNanos();
            while (!isConnected) {
                await(SelectionKey.OP_CONNECT, deadline);
                isConnected = channel.finishConnect();
            }
            if (!way.isUnix()) {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            }
            wire = way.tls().isPresent()
                    ? new TlsWire(channel, way.tls().get(), way.address())
                    : new PlainWire(channel);
            for (int ops = wire.secure(); ops != 0; ops = wire.secure()) {
                await(ops, deadline);
            }
            send(hello);
            Frame first = next(Optional.of(timing.greeting()));
            if (!(first instanceof Welcome found)) {
                throw broken("sent " + first.type() + " before WELCOME");
            }
            welcome = found;
        } catch (IOException | RefusedException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private static SocketChannel openChannel(Way way, Selector selector) throws IOException {
        try {
            return way.isUnix() ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
        } catch (IOException e) {
            selector.close();
            throw e;
        }
    }

    Welcome welcome() {
        return welcome;
    }

    String address() {
        return way.address();
    }

    /**
     * Requests samples.
     *
     * @param parts receives the parts of the answer
     */
    void get(List<String> keys, boolean isStatOnly, Consumer<Samples> parts) throws IOException, RefusedException {
        requests = requests == MAX_REQUEST ? 1 : requests + 1;
        send(new GetSamples(requests, isStatOnly, keys));
        BitSet answered = new BitSet();
        while (true) {
            Samples part = answer(Samples.class);
            check(part.request(), part.version());
            for (Samples.Item item : part.items()) {
                if (item.key() >= keys.size() || answered.get((int) item.key())) {
                    throw broken("answered key " + item.key() + " twice or unasked");
                }
                answered.set((int) item.key());
            }
            parts.accept(part);
            if (part.isLast()) {
                break;
            }
        }
        if (answered.cardinality() < keys.size()) {
            throw broken("left " + (keys.size() - answered.cardinality()) + " of " + keys.size()
                    + " keys without an answer");
        }
    }

    /** Requests a part of a listing. */
    Entries list(String prefix, String delimiter, String after) throws IOException, RefusedException {
        requests = requests == MAX_REQUEST ? 1 : requests + 1;
        send(new ListSamples(requests, ListSamples.MAX_ENTRIES, prefix, delimiter, after));
        Entries part = answer(Entries.class);
        check(part.request(), part.version());
        return part;
    }

    private void check(long request, long version) {
        if (request != requests || version != welcome.stream().version()) {
            throw broken("answered request " + request + " from version " + version + ", expected request " + requests
                    + " and version " + welcome.stream().version());
        }
    }

    private <T extends Frame> T answer(Class<T> wanted) throws IOException, RefusedException {
        while (true) {
            Frame frame = next(Optional.empty());
            if (wanted.isInstance(frame)) {
                return wanted.cast(frame);
            }
            if (!(frame instanceof LaneMap) && !(frame instanceof Pong)) {
                throw broken("sent " + frame.type() + " out of turn");
            }
        }
    }

    private FeedProtocolException broken(String what) {
        return new FeedProtocolException(way.address() + " " + what, "bad_frame");
    }

    private void send(Frame frame) throws IOException {
        ByteBuffer bytes = Frames.encode(frame);
        long deadline = System.nanoTime() + timing.dead().toNanos();
        while (!isSent(bytes)) {
            await(SelectionKey.OP_WRITE, deadline);
        }
    }

    private boolean isSent(ByteBuffer bytes) throws IOException {
        wire.write(bytes);
        return wire.flush() && !bytes.hasRemaining();
    }

    /** Returns the next frame. Without a limit, a feeder that answers PINGs may take as long as it needs. */
    private Frame next(Optional<Duration> limit) throws IOException, RefusedException {
        long began = System.nanoTime();
        long heard = began;
        boolean asked = false;
        while (true) {
            Optional<Frame> frame = buffered();
            if (frame.isPresent()) {
                return frame.get();
            }
            in.clear();
            int count = wire.read(in);
            in.flip();
            long now = System.nanoTime();
            if (count < 0) {
                throw new IOException(way.address() + " closed the connection");
            }
            if (count > 0) {
                heard = now;
                asked = false;
                continue;
            }
            if (limit.isPresent() && now - began > limit.get().toNanos()) {
                throw new IOException(
                        way.address() + " did not answer in " + limit.get().toSeconds() + " s");
            }
            long silence = now - heard - timing.ping().toNanos();
            if (limit.isEmpty() && silence > 0 && !asked) {
                send(new Ping(++pings));
                asked = true;
            }
            if (limit.isEmpty() && silence > timing.dead().toNanos()) {
                throw new IOException(way.address() + " has been silent for "
                        + Duration.ofNanos(now - heard).toSeconds() + " s");
            }
            select(SelectionKey.OP_READ, STEP.toMillis());
        }
    }

    private Optional<Frame> buffered() throws IOException, RefusedException {
        while (in.hasRemaining()) {
            Optional<Frame> frame;
            try {
                frame = decoder.next(in);
            } catch (ProtocolException e) {
                throw new FeedProtocolException(
                        way.address() + ": " + e.getMessage(), e.code().text());
            }
            if (frame.isEmpty()) {
                continue;
            }
            if (frame.get() instanceof ErrorMessage error) {
                throw new RefusedException(way.address(), error);
            }
            if (frame.get() instanceof Bye) {
                throw new IOException(way.address() + " closed the session (BYE)");
            }
            if (frame.get() instanceof Ping ping) {
                send(new Pong(ping.opaque()));
                continue;
            }
            return frame;
        }
        return Optional.empty();
    }

    private void await(int ops, long deadline) throws IOException {
        long left = Duration.ofNanos(deadline - System.nanoTime()).toMillis();
        if (left <= 0 || !select(ops, left)) {
            throw new IOException(way.address() + " did not answer in time");
        }
    }

    private boolean select(int ops, long ms) throws IOException {
        key.interestOps(ops);
        selector.select(Math.max(1, ms));
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("Interrupted while waiting for " + way.address());
        }
        boolean isReady = !selector.selectedKeys().isEmpty();
        selector.selectedKeys().clear();
        return isReady;
    }

    /** Ends the session with a BYE. */
    void end() {
        try {
            send(new Bye());
            wire.shutdownOutput();
        } catch (IOException e) {
            // The feeder is gone already.
        }
        close();
    }

    @Override
    public void close() {
        try {
            channel.close();
            selector.close();
        } catch (IOException e) {
            // Closing is the last step; a failure loses nothing.
        }
    }
}
