package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Protocol;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A socket under TLS. Reading drives the handshake, on the thread that accepts connections. After that, one thread
 * reads and one writes, and they share only the engine's internal lock. Keys that are renewed within the session are
 * sent before the next data. Renegotiation is rejected.
 *
 * <p>The work and the memory that a peer can cause are bounded. Until {@link #admitted}, a peer may send a fixed number
 * of bytes and records. After that, it may send a fixed number of records without data between two writes: the engine
 * queues an answer to each KeyUpdate, and only a write takes these answers out of the queue.
 */
final class TlsWire implements Wire {
    private static final int HANDSHAKE = 22;
    private static final int RECORDS_AT_ONCE = 4;
    /**
     * Enough for the longest chain of certificates that the JDK reads, 32 KiB, and for a HELLO of 16 KiB in small
     * records.
     */
    private static final int MAX_BYTES_BEFORE_ADMISSION = 256 << 10;
    /** A handshake has fewer records, even with records of 512 bytes, the smallest size that a peer can negotiate. */
    private static final int MAX_HANDSHAKE_RECORDS = 128;
    /** Between the handshake and the admission, an honest peer sends data only. */
    private static final int MAX_EMPTY_BEFORE_ADMISSION = 8;
    /**
     * An honest peer answers each new key of the server, which follows 128 GiB of data, and changes its own key as
     * rarely.
     */
    private static final int MAX_EMPTY_BETWEEN_WRITES = 64;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SocketChannel socket;
    private final SSLEngine engine;

    // Owned by the reader.
    private ByteBuffer received;
    private ByteBuffer plain = ByteBuffer.allocate(0);
    private boolean looked;
    private boolean established;
    private boolean ended;
    private boolean admitted;
    private int bytesBeforeAdmission;
    private int handshakeRecords;

    /** Records without data since the last write: increased by the reader, reset by the writer. */
    private final AtomicInteger emptyRecords = new AtomicInteger();

    // Owned by the writer, and by the reader until the handshake is done.
    private ByteBuffer records;
    private @Nullable Staging staging;

    /** @param engine a new engine in server mode */
    TlsWire(SocketChannel socket, SSLEngine engine) throws SSLException {
        this.socket = socket;
        this.engine = engine;
        engine.beginHandshake();
        received = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        records = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
    }

    /**
     * Reads plain text, as a channel does.
     *
     * @throws PlainTextException if the peer does not speak TLS; nothing was answered then
     * @throws SSLException if the handshake failed, which the peer was told, or bytes were altered on the network
     */
    @Override
    public int read(ByteBuffer to) throws IOException {
        while (!plain.hasRemaining()) {
            if (ended) {
                return -1;
            }
            if (!advance()) {
                int n = socket.read(received);
                if (n <= 0) {
                    ended = n < 0;
                    return n;
                }
                countBytes(n);
            }
        }
        int n = Math.min(plain.remaining(), to.remaining());
        to.put(plain.slice(plain.position(), n));
        plain.position(plain.position() + n);
        return n;
    }

    @Override
    public void admitted() {
        admitted = true;
    }

    private void countBytes(int bytes) throws SSLException {
        if (!admitted) {
            bytesBeforeAdmission += bytes;
            if (bytesBeforeAdmission > MAX_BYTES_BEFORE_ADMISSION) {
                throw new SSLException(
                        "the peer sent more than " + MAX_BYTES_BEFORE_ADMISSION + " bytes without a whole HELLO");
            }
        }
    }

    /** Counts a record without data. */
    private void countEmpty() throws SSLException {
        if (!established) {
            if (++handshakeRecords > MAX_HANDSHAKE_RECORDS) {
                throw new SSLException("the peer's handshake has more than " + MAX_HANDSHAKE_RECORDS + " records");
            }
            return;
        }
        int limit = admitted ? MAX_EMPTY_BETWEEN_WRITES : MAX_EMPTY_BEFORE_ADMISSION;
        if (emptyRecords.incrementAndGet() > limit) {
            throw new SSLException("the peer sent more than " + limit + " records without data, such as KeyUpdates,"
                    + (admitted ? " between two writes of this server" : " before HELLO"));
        }
    }

    /** Processes one step of the received bytes. Returns false if they are too few. */
    private boolean advance() throws IOException {
        if (!looked) {
            if (received.position() < 3) {
                return false;
            }
            // Content type, major version, minor version. The third byte of all frames that may come first is 0.
            if (received.get(0) != HANDSHAKE || received.get(1) != 3 || received.get(2) < 1) {
                throw new PlainTextException(
                        Protocol.isProbe(received.duplicate().flip()));
            }
            looked = true;
        }
        if (established) {
            return unwrap();
        }
        try {
            return handshake();
        } catch (SSLException e) {
            tellWhy(e);
            throw e;
        }
    }

    private boolean handshake() throws IOException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                Runnable task = engine.getDelegatedTask();
                if (task != null) {
                    task.run();
                }
                return true;
            }
            case NEED_WRAP -> {
                seal(NOTHING);
                return true;
            }
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                return unwrap();
            }
            default -> {
                established = true;
                return true;
            }
        }
    }

    private boolean unwrap() throws IOException {
        received.flip();
        plain.clear();
        SSLEngineResult result;
        try {
            result = engine.unwrap(received, plain);
        } finally {
            received.compact();
            plain.flip();
        }
        if (established && result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            throw new SSLException("the trainer wants to renegotiate, which is not allowed");
        }
        switch (result.getStatus()) {
            case BUFFER_UNDERFLOW -> {
                received = grown(received, engine.getSession().getPacketBufferSize());
                return false;
            }
            case BUFFER_OVERFLOW ->
                plain = ByteBuffer.allocate(Math.max(
                                2 * plain.capacity(), engine.getSession().getApplicationBufferSize()))
                        .limit(0);
            case CLOSED -> ended = true;
            default -> {
                if (result.bytesConsumed() > 0 && result.bytesProduced() == 0) {
                    countEmpty();
                }
            }
        }
        return true;
    }

    private static ByteBuffer grown(ByteBuffer buffer, int capacity) {
        return buffer.hasRemaining()
                ? buffer
                : ByteBuffer.allocate(2 * capacity).put(buffer.flip());
    }

    /** Sends the alert that describes the failure. */
    private void tellWhy(SSLException why) {
        try {
            for (int i = 0; i < 4 && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP; i++) {
                seal(NOTHING);
            }
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        int n = from.remaining();
        seal(from);
        return n;
    }

    @Override
    public long write(ByteBuffer[] parts) throws IOException {
        return write(parts, 0, parts.length);
    }

    @Override
    public long write(ByteBuffer[] parts, int from, int count) throws IOException {
        if (count == 1 && parts[from].hasArray()) {
            return write(parts[from]);
        }
        if (staging == null) {
            staging = new Staging();
            records = ByteBuffer.allocate(RECORDS_AT_ONCE * engine.getSession().getPacketBufferSize());
        }
        return write(staging.take(parts, from, count));
    }

    /** Encrypts and writes all bytes; without bytes, a handshake message or an alert. */
    private void seal(ByteBuffer from) throws IOException {
        do {
            int packet = engine.getSession().getPacketBufferSize();
            if (records.remaining() < packet) {
                flush();
                if (records.capacity() < packet) {
                    records = ByteBuffer.allocate(packet);
                }
            }
            SSLEngineResult result = engine.wrap(from, records);
            if (result.getStatus() == Status.BUFFER_OVERFLOW) {
                records = ByteBuffer.allocate(2 * records.capacity()).put(records.flip());
            } else if (result.getStatus() == Status.CLOSED && from.hasRemaining()) {
                flush();
                throw new ClosedChannelException();
            }
        } while (from.hasRemaining());
        // The answers to KeyUpdates were sent before the data.
        emptyRecords.set(0);
        flush();
    }

    private void flush() throws IOException {
        records.flip();
        try {
            while (records.hasRemaining()) {
                if (socket.write(records) == 0) {
                    // A socket with almost no earlier output accepts the messages of a handshake at once.
                    throw new EOFException("the peer does not read its part of the handshake");
                }
            }
        } finally {
            records.clear();
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            engine.closeOutbound();
            for (int i = 0; i < 4 && !engine.isOutboundDone(); i++) {
                seal(NOTHING);
            }
        } finally {
            try {
                if (staging != null) {
                    staging.close();
                }
            } finally {
                socket.shutdownOutput();
            }
        }
    }

    @Override
    public SocketChannel socket() {
        return socket;
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
