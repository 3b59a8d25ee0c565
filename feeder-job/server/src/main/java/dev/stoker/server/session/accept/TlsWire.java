package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.transport.TlsRecords;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A socket under TLS. Reading drives the handshake, on the thread that accepts connections. After that, one thread
 * reads and one writes. Keys that are renewed within the session are sent before the next data.
 *
 * <p>The work and the memory that a peer can cause are bounded. Until {@link #admitted}, a peer may send a fixed number
 * of bytes and records. After that, it may send a fixed number of records without data between two writes: the engine
 * queues an answer to each KeyUpdate, and only a write takes these answers out of the queue.
 */
public final class TlsWire implements Wire {
    private static final int HANDSHAKE = 22;
    private static final int FULL_RECORD_BYTES = 16 << 10;
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

    private final SocketChannel socket;
    private final TlsRecords records;
    private final long keyLimitBytes;

    // Owned by the reader.
    private boolean looked;
    private boolean ended;
    private boolean admitted;
    private int bytesBeforeAdmission;
    private int handshakeRecords;

    // Owned by the writer.
    private @Nullable Staging staging;
    private long bytesWritten;

    /**
     * @param engine a new engine in server mode
     * @param keyLimitBytes how much may be sent with one key; the engine observes this limit itself in TLS 1.3
     */
    public TlsWire(SocketChannel socket, SSLEngine engine, long keyLimitBytes) throws SSLException {
        this.socket = socket;
        this.keyLimitBytes = keyLimitBytes;
        records = new TlsRecords(engine, "trainer", 1, this::countEmpty);
    }

    /**
     * Reads plain text, as a channel does.
     *
     * @throws PlainTextException if the peer does not speak TLS; nothing was answered then
     * @throws SSLException if the handshake failed, which the peer was told, or bytes were altered on the network
     */
    @Override
    public int read(ByteBuffer to) throws IOException {
        while (!ended) {
            boolean advanced = looksLikeTls() && !records.isEstablished() && handshake();
            if (advanced) {
                continue;
            }
            int n = records.isEstablished() ? records.read(to) : 0;
            if (n != 0 || !to.hasRemaining()) {
                return n;
            }
            int received = records.receive(socket);
            if (received <= 0) {
                ended = received < 0;
                return received;
            }
            countBytes(received);
        }
        return -1;
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
    private void countEmpty(boolean isHandshake, int sinceWrite) throws SSLException {
        if (isHandshake) {
            if (++handshakeRecords > MAX_HANDSHAKE_RECORDS) {
                throw new SSLException("the peer's handshake has more than " + MAX_HANDSHAKE_RECORDS + " records");
            }
            return;
        }
        int limit = admitted ? MAX_EMPTY_BETWEEN_WRITES : MAX_EMPTY_BEFORE_ADMISSION;
        if (sinceWrite > limit) {
            throw new SSLException("the peer sent more than " + limit + " records without data, such as KeyUpdates,"
                    + (admitted ? " between two writes of this server" : " before HELLO"));
        }
    }

    /** Returns whether the first bytes begin a TLS handshake; false if they are too few to tell. */
    private boolean looksLikeTls() throws PlainTextException {
        if (!looked) {
            ByteBuffer first = records.received();
            if (first.remaining() < 3) {
                return false;
            }
            int at = first.position();
            // Content type, major version, minor version. The third byte of all frames that may come first is 0.
            if (first.get(at) != HANDSHAKE || first.get(at + 1) != 3 || first.get(at + 2) < 1) {
                throw new PlainTextException(Protocol.isProbe(first));
            }
            looked = true;
        }
        return true;
    }

    /** Performs one step of the handshake. Returns false if the received bytes are too few. */
    private boolean handshake() throws IOException {
        try {
            boolean advanced = records.handshake();
            flush();
            return advanced;
        } catch (SSLException e) {
            records.tellWhy(e, this::flush);
            throw e;
        }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        int n = from.remaining();
        bytesWritten += n;
        while (from.hasRemaining()) {
            if (!records.hasRoom()) {
                flush();
            }
            if (!records.wrap(from)) {
                flush();
                throw new ClosedChannelException();
            }
        }
        flush();
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
            staging = Staging.open();
            records.reserve(Staging.BYTES / FULL_RECORD_BYTES);
        }
        // Whole records: the rest of a step would become a record of a few bytes, which costs a trainer as much.
        int record = Math.min(Staging.BYTES, records.recordBytes());
        return write(staging.take(parts, from, count, Staging.BYTES / record * record));
    }

    /** One piece of at most 2 GiB may exceed the limit. AES-GCM is safe far beyond, see {@code KeyLimit}. */
    @Override
    public boolean isSpent() {
        return bytesWritten >= keyLimitBytes && !records.renewsKeys();
    }

    /** Sends everything that is encrypted. */
    private boolean flush() throws IOException {
        ByteBuffer pending = records.pending();
        while (pending.hasRemaining()) {
            if (socket.write(pending) == 0) {
                // A socket with almost no earlier output accepts the messages of a handshake at once.
                throw new EOFException("the peer does not read its part of the handshake");
            }
        }
        return true;
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            records.close(this::flush);
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
