package dev.stoker.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/**
 * Encrypts and decrypts the records of one TLS connection. Its user decides when bytes are received and sent, so the
 * same class serves a client that never blocks and a server with a thread for each direction. Renegotiation is
 * rejected.
 *
 * <p>One thread drives the handshake. After that, one thread reads and one writes; they share only the engine's
 * internal lock and the number of empty records.
 */
public final class TlsRecords {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    /** The alerts of a failure or of the end are fewer. */
    private static final int MAX_ALERTS = 4;

    /** Bounds the records without data that a peer sends, such as KeyUpdates. The engine queues an answer to each. */
    public interface EmptyRecordLimit {
        /**
         * Counts a record without data.
         *
         * @param isHandshake whether the handshake is in progress
         * @param sinceWrite number of such records since something was written, or since the handshake
         * @throws SSLException if these are too many
         */
        void count(boolean isHandshake, int sinceWrite) throws SSLException;
    }

    /** Sends {@link #pending}. */
    public interface Flush {
        /** Returns whether everything was sent. */
        boolean flush() throws IOException;
    }

    private final SSLEngine engine;
    private final String peer;
    private final EmptyRecordLimit limit;

    // The reader's. In all buffers, data is between position and limit.
    private ByteBuffer received;
    private ByteBuffer plain;
    private boolean isEstablished;
    private boolean isEnded;

    /** Records without data since the last write: increased by the reader, reset by the writer. */
    private final AtomicInteger emptyRecords = new AtomicInteger();

    /** The writer's, and the reader's until the handshake is done. */
    private ByteBuffer pending;

    /** The writer's. */
    private int recordBytes = 16 << 10;

    /**
     * Begins the handshake.
     *
     * @param engine a new engine
     * @param peer the other side, for messages, such as {@code feeder}
     * @param recordsAtOnce number of records that are received at a time
     */
    public TlsRecords(SSLEngine engine, String peer, int recordsAtOnce, EmptyRecordLimit limit) throws SSLException {
        this.engine = engine;
        this.peer = peer;
        this.limit = limit;
        engine.beginHandshake();
        received = ByteBuffer.allocate(recordsAtOnce * packet()).limit(0);
        // It grows when the first data arrives: a connection that is not admitted needs none.
        plain = ByteBuffer.allocate(0);
        pending = ByteBuffer.allocate(packet()).limit(0);
    }

    private int packet() {
        return engine.getSession().getPacketBufferSize();
    }

    /** Returns whether the engine changes its keys within the connection. It cannot before TLS 1.3. */
    public boolean renewsKeys() {
        return engine.getSession().getProtocol().equals("TLSv1.3");
    }

    /** Returns whether the handshake is done. */
    public boolean isEstablished() {
        return isEstablished;
    }

    // ---- reading

    /** Reads encrypted bytes from a channel. Returns their number, or -1 at the end of the stream. */
    public int receive(ReadableByteChannel from) throws IOException {
        received.compact();
        try {
            return from.read(received);
        } finally {
            received.flip();
        }
    }

    /** Returns the encrypted bytes that were received and not yet decrypted. */
    public ByteBuffer received() {
        return received.asReadOnlyBuffer();
    }

    /**
     * Performs the next step of the handshake. It may leave bytes in {@link #pending}, which must be sent before the
     * next step.
     *
     * @return false if more bytes must be received first
     */
    public boolean handshake() throws SSLException {
        switch (engine.getHandshakeStatus()) {
            case NEED_TASK -> {
                Runnable task = engine.getDelegatedTask();
                if (task != null) {
                    task.run();
                }
            }
            case NEED_WRAP -> wrap(NOTHING);
            case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                return unwrapToPlain();
            }
            default -> {
                isEstablished = true;
                emptyRecords.set(0);
            }
        }
        return true;
    }

    /**
     * Decrypts up to one record.
     *
     * @return the number of bytes, 0 if more must be received first, -1 if the peer has ended the connection
     */
    public int read(ByteBuffer to) throws SSLException {
        while (!plain.hasRemaining()) {
            if (isEnded) {
                return -1;
            }
            int from = to.position();
            // A whole record is written directly to its destination.
            boolean isRoomy = plain.capacity() > 0 && to.remaining() >= plain.capacity();
            boolean advanced = isRoomy ? unwrap(to) : unwrapToPlain();
            if (to.position() > from) {
                return to.position() - from;
            }
            if (!advanced) {
                return 0;
            }
        }
        int count = Math.min(plain.remaining(), to.remaining());
        to.put(plain.slice(plain.position(), count));
        plain.position(plain.position() + count);
        return count;
    }

    private boolean unwrapToPlain() throws SSLException {
        plain.clear();
        try {
            return unwrap(plain);
        } finally {
            plain.flip();
        }
    }

    /** Decrypts one record; false if it is incomplete. */
    private boolean unwrap(ByteBuffer to) throws SSLException {
        SSLEngineResult result = engine.unwrap(received, to);
        if (isEstablished && result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            throw new SSLException("the " + peer + " wants to renegotiate, which is not allowed");
        }
        switch (result.getStatus()) {
            case BUFFER_UNDERFLOW -> {
                if (received.remaining() == received.capacity() || received.capacity() < packet()) {
                    received = ByteBuffer.allocate(2 * packet()).put(received).flip();
                }
                return false;
            }
            case BUFFER_OVERFLOW ->
                plain = ByteBuffer.allocate(Math.max(
                                2 * plain.capacity(), engine.getSession().getApplicationBufferSize()))
                        .limit(0);
            case CLOSED -> isEnded = true;
            default -> {
                if (result.bytesConsumed() > 0 && result.bytesProduced() == 0) {
                    limit.count(!isEstablished, emptyRecords.incrementAndGet());
                }
            }
        }
        return true;
    }

    // ---- writing

    /** Returns the encrypted bytes that have not been sent. The user sends them, and moves the position. */
    public ByteBuffer pending() {
        return pending;
    }

    /** Makes room for this number of records in {@link #pending}. */
    public void reserve(int records) {
        if (pending.capacity() < records * packet()) {
            pending = ByteBuffer.allocate(records * packet()).put(pending).flip();
        }
    }

    /**
     * Returns the number of bytes of data in a full record. It is known after the first one; the JDK's engine takes
     * 16,367 bytes with TLS 1.3.
     */
    public int recordBytes() {
        return recordBytes;
    }

    /** Returns whether {@link #pending} has room for another record. */
    public boolean hasRoom() {
        return !pending.hasRemaining() || pending.capacity() - pending.limit() >= packet();
    }

    /**
     * Encrypts data for one record, or a handshake message or an alert if there is no data. Appends it to {@link
     * #pending}. If that had to grow first, nothing is encrypted.
     *
     * @return false if there is data, but the connection was ended
     */
    public boolean wrap(ByteBuffer from) throws SSLException {
        if (!pending.hasRemaining()) {
            pending.position(0).limit(0);
            reserve(1);
        }
        int start = pending.position();
        int end = pending.limit();
        pending.limit(pending.capacity()).position(end);
        SSLEngineResult result;
        try {
            result = engine.wrap(from, pending);
        } finally {
            pending.limit(pending.position()).position(start);
        }
        // The answers to KeyUpdates precede the data.
        emptyRecords.set(0);
        if (from.hasRemaining() && result.bytesConsumed() > 0) {
            recordBytes = result.bytesConsumed();
        }
        switch (result.getStatus()) {
            case BUFFER_OVERFLOW ->
                pending =
                        ByteBuffer.allocate(2 * pending.capacity()).put(pending).flip();
            case CLOSED -> {
                return !from.hasRemaining();
            }
            default -> {}
        }
        return true;
    }

    /** Sends the alert that describes a failure of the handshake, if there is one. */
    public void tellWhy(SSLException why, Flush out) {
        try {
            for (int i = 0;
                    i < MAX_ALERTS && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && out.flush();
                    i++) {
                wrap(NOTHING);
            }
            out.flush();
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    /** Ends the sending direction with an alert. */
    public void close(Flush out) throws IOException {
        engine.closeOutbound();
        for (int i = 0; i < MAX_ALERTS && !engine.isOutboundDone() && out.flush(); i++) {
            wrap(NOTHING);
        }
        out.flush();
    }
}
