package dev.stoker.client.feeder;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.transport.LocalReads;
import dev.stoker.client.transport.PlainWire;
import dev.stoker.client.transport.Tls;
import dev.stoker.client.transport.TlsWire;
import dev.stoker.client.transport.Wire;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.codec.Frames;
import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * One non-blocking socket to one feeder: connects, secures, sends, and holds the state of the session. {@link
 * FrameReader} receives. The input thread calls {@link #receive}, {@link #finishConnect} and {@link #secure}; the
 * client's lock guards everything else.
 */
final class FeederConnection implements ReceivedPiece.Origin {
    enum State {
        CONNECTING,
        /** The TLS handshake is running, if TLS is wanted. */
        SECURING,
        /** HELLO was sent. */
        GREETING,
        LIVE,
        CLOSED
    }

    /** Receives the frames of a link. */
    interface Sink {
        /** Returns memory for a message of this size. */
        ByteBuffer bufferFor(int bytes);

        /**
         * A whole BATCH frame.
         *
         * @param header its first 80 bytes, little-endian
         * @param crc the checksum computed over the header and the message
         */
        void onBatch(FeederConnection connection, ByteBuffer header, ByteBuffer message, int crc)
                throws ConnectionLostException;

        /** A whole BATCH_REF frame, whose message still has to be read. */
        void onReference(FeederConnection connection, BatchRef reference) throws ConnectionLostException;

        /** Any other whole frame. */
        void onFrame(FeederConnection connection, Frame frame) throws ConnectionLostException;
    }

    private static final int RECEIVE_BUFFER = 4 << 20;

    /** Returns the connection over which a piece arrived. */
    static FeederConnection of(ReceivedPiece piece) {
        return (FeederConnection) piece.origin().orElseThrow();
    }

    /** The address that a link leads to. */
    record Way(String address, SocketAddress resolved, Optional<String> path, Optional<Tls> tls) {
        /** @param path of the Unix-domain socket, if the link uses one */
        Way {
            if (path.isPresent() && tls.isPresent()) {
                throw new IllegalArgumentException(address + ": no TLS over a Unix-domain socket");
            }
        }
    }

    private String address;
    private final Way way;
    private final SocketChannel channel;
    private Wire wire;
    private final SelectionKey key;
    private final FrameReader reader;
    private final Deque<ByteBuffer> sendQueue = new ArrayDeque<>();
    private volatile State state = State.CONNECTING;
    private Optional<LocalReads> files = Optional.empty();

    /** When the attempt began; after WELCOME, when the WELCOME arrived. */
    long sinceNs;

    /** Whether the server accepts STATS and reports the causes of slow pieces. */
    boolean tells;
    /** Whether the server accepts no receipts because the token is for reading only. */
    boolean isReadOnly;
    /** Messages from local reads that failed their checksum. The input thread's. */
    int faults;
    /** Whether the feeder has said that another process has the place. */
    boolean refusedPlace;
    /** The lanes that it serves. */
    Set<Integer> lanes = Set.of();

    long subscription;
    /** Receipts that were sent and are not yet durable, oldest first. */
    final Deque<PendingReceipts.Entries> undurable = new ArrayDeque<>();

    /** ACK entries of this session. */
    long sentEntries;
    /** How many of these the server has reported as durable. */
    long durable;
    /** The greatest number with which the server has answered a PING. */
    long ponged;
    /** ACK entries that are not yet sent, all of one epoch. */
    final List<AckEntry> pending = new ArrayList<>();

    long pendingEpoch;

    /** Starts to connect. */
    FeederConnection(Way way, Sink sink, Selector selector, long nowNs) throws IOException {
        this.address = way.address();
        this.way = way;
        this.sinceNs = nowNs;
        this.reader = new FrameReader(this, sink);
        this.channel = isNear() ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
        this.wire = new PlainWire(channel);
        try {
            channel.configureBlocking(false);
            if (!isNear()) {
                channel.setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER);
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            }
            // A Unix-domain socket is connected immediately, and the selector does not report it.
            boolean isConnected = channel.connect(way.resolved());
            key = channel.register(selector, isConnected ? SelectionKey.OP_WRITE : SelectionKey.OP_CONNECT, this);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Whether the link uses the Unix-domain socket of a feeder on this machine. */
    boolean isNear() {
        return way.path().isPresent();
    }

    Optional<String> path() {
        return way.path();
    }

    /** Gives the feeder another address. */
    void rename(String known) {
        address = known;
    }

    /** The files that the feeder has announced, once local reads are agreed. */
    Optional<LocalReads> files() {
        return files;
    }

    /** Notes that local reads are agreed, with at most {@code limit} files at a time. */
    void readsLocally(int limit) {
        files = Optional.of(new LocalReads(limit));
    }

    String address() {
        return address;
    }

    State state() {
        return state;
    }

    boolean isLive() {
        return state == State.LIVE;
    }

    boolean isClosed() {
        return state == State.CLOSED;
    }

    /** Called when the socket can be connected. Continues with the TLS handshake, if TLS is wanted. */
    void finishConnect(long nowNs) throws IOException {
        channel.finishConnect();
        if (!isNear() && channel.getLocalAddress().equals(channel.getRemoteAddress())) {
            // Without a listener, the kernel can give a socket the very port that it connects to, and the socket
            // connects to itself.
            throw new IOException("no process listens there");
        }
        state = State.SECURING;
        sinceNs = nowNs;
        if (way.tls().isPresent()) {
            wire = new TlsWire(channel, way.tls().get(), address);
        }
    }

    /**
     * Called when the socket is ready during the TLS handshake.
     *
     * @return whether HELLO may be sent
     * @throws TlsException for a permanent failure
     */
    boolean secure() throws IOException {
        int awaited = wire.secure();
        key.interestOps(awaited == 0 ? SelectionKey.OP_READ : awaited);
        return awaited == 0;
    }

    void greeted(long nowNs) {
        state = State.GREETING;
        sinceNs = nowNs;
    }

    /** Called after WELCOME. From then on, BATCH frames whose message is too large for this stream are refused. */
    void welcomed(long nowNs, long largestBatch) {
        state = State.LIVE;
        sinceNs = nowNs;
        limitBatches(largestBatch);
    }

    /** From now on, BATCH frames whose message is too large for the selected columns are refused. */
    void limitBatches(long largestBatch) {
        reader.limitBatches(largestBatch);
    }

    // ---- sending

    /** Sends a frame or keeps it for later. {@link #receive} detects a broken socket. */
    void send(Frame frame) {
        if (state == State.CLOSED) {
            return;
        }
        ByteBuffer bytes = Frames.encode(frame);
        if (sendQueue.isEmpty()) {
            write(bytes);
        }
        boolean isKept = bytes.hasRemaining();
        if (isKept) {
            sendQueue.add(bytes);
        }
        if (!isFlushed() || isKept) {
            key.interestOpsOr(SelectionKey.OP_WRITE);
            key.selector().wakeup();
        }
    }

    /** Sends the frames that were kept. */
    void flush() {
        while (!sendQueue.isEmpty()) {
            write(sendQueue.peek());
            if (sendQueue.peek().hasRemaining()) {
                return;
            }
            sendQueue.poll();
        }
        if (isFlushed() && key.isValid()) {
            key.interestOpsAnd(~SelectionKey.OP_WRITE);
        }
    }

    private boolean isFlushed() {
        try {
            return wire.flush();
        } catch (IOException e) {
            return true;
        }
    }

    private void write(ByteBuffer bytes) {
        try {
            wire.write(bytes);
        } catch (IOException e) {
            bytes.position(bytes.limit());
        }
    }

    // ---- receiving

    /** Receives until one frame is passed on (true) or nothing more is available (false). */
    boolean receive() throws ConnectionLostException {
        return reader.receive();
    }

    /** Bytes that were received. Any thread. */
    long bytesReceived() {
        return reader.bytesReceived();
    }

    /** Frames that were received. Any thread. */
    long framesReceived() {
        return reader.framesReceived();
    }

    Wire wire() {
        return wire;
    }

    // ---- the end

    /** Releases the descriptor without a message to the other side. */
    void close() {
        state = State.CLOSED;
        key.cancel();
        sendQueue.clear();
        files.ifPresent(LocalReads::close);
        try {
            channel.close();
        } catch (IOException e) {
            // Closing is the last step; a failure loses nothing.
        }
    }

    /** Ends the sending direction. {@link #skip} reads the remaining input. */
    void shutdownOutput() {
        try {
            wire.shutdownOutput();
        } catch (IOException e) {
            // The peer is gone, so no one can receive the end.
        }
    }

    /**
     * Reads and discards input; false at the end of the stream. Closing with unread data would reset the connection.
     */
    boolean skip() {
        return reader.skip(channel);
    }

    @Override
    public String toString() {
        return address + " " + state;
    }
}
