package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLEngineResult.Status;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/**
 * A connected socket under TLS, version 1.2 or 1.3. After the handshake, one thread reads while another writes; they
 * share only the engine's own lock. Renegotiation is refused.
 */
public final class TlsWire implements Wire {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final int RECORDS_AT_ONCE = 8;
    private static final int ALERT = 21;
    private static final int HANDSHAKE = 22;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    /**
     * A feeder changes its keys every 128 GiB. The engine queues an answer to each KeyUpdate, which the next write
     * sends.
     */
    private static final int MAX_EMPTY_BETWEEN_WRITES = 1024;

    private final SocketChannel socket;
    private final SSLEngine engine;
    private final TlsErrors words;

    // The reader's buffers; data is between position and limit.
    private ByteBuffer received;
    private ByteBuffer plain;
    private boolean looked;
    private boolean established;
    private boolean ended;
    /** No byte has arrived from the feeder yet. */
    private boolean silent = true;

    /** Records without data since the last write: increased by the reader, reset by the writer. */
    private final AtomicInteger emptyRecords = new AtomicInteger();

    // The writer's buffer, which the reader uses during the handshake; data is between position and limit.
    private ByteBuffer records;

    /**
     * Reads the files with certificates.
     *
     * @throws TlsException if a file cannot be used
     */
    public TlsWire(SocketChannel socket, Tls tls, String address) throws IOException {
        this.socket = socket;
        Address place = Address.parse(address).orElseThrow();
        String name = tls.name().orElse(place.host());
        try {
            FeederTrust trust = FeederTrust.of(tls, address, name);
            words = new TlsErrors(tls, address, trust);
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(ClientKeys.of(tls), new TrustManager[] {trust}, null);
            engine = context.createSSLEngine(name, place.port());
        } catch (GeneralSecurityException e) {
            throw new TlsException(address + ": TLS cannot be set up: " + e.getMessage(), e);
        }
        engine.setUseClientMode(true);
        engine.setEnabledProtocols(PROTOCOLS);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        engine.beginHandshake();
        int packet = engine.getSession().getPacketBufferSize();
        received = ByteBuffer.allocate(RECORDS_AT_ONCE * packet).limit(0);
        records = ByteBuffer.allocate(packet).limit(0);
        plain = ByteBuffer.allocate(engine.getSession().getApplicationBufferSize())
                .limit(0);
    }

    @Override
    public int secure() throws IOException {
        try {
            while (true) {
                if (!flush()) {
                    return SelectionKey.OP_WRITE;
                }
                switch (engine.getHandshakeStatus()) {
                    case NEED_TASK -> {
                        Runnable task = engine.getDelegatedTask();
                        if (task != null) {
                            task.run();
                        }
                    }
                    case NEED_WRAP -> seal(NOTHING);
                    case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                        if (!unwrapToPlain()) {
                            int count = fill();
                            if (count < 0) {
                                throw new IOException("the connection was closed during the TLS handshake");
                            }
                            if (count == 0) {
                                return SelectionKey.OP_READ;
                            }
                        }
                    }
                    default -> {
                        established = true;
                        return 0;
                    }
                }
            }
        } catch (SSLException e) {
            tellWhy(e);
            throw words.explained(e);
        }
    }

    /** Sends the alert that describes the problem. */
    private void tellWhy(SSLException why) {
        try {
            for (int i = 0; i < 4 && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && flush(); i++) {
                seal(NOTHING);
            }
            flush();
        } catch (IOException e) {
            why.addSuppressed(e);
        }
    }

    // ---- reading

    @Override
    public int read(ByteBuffer to) throws IOException {
        try {
            return advance(to);
        } catch (SSLException e) {
            throw silent ? words.explained(e) : e;
        }
    }

    private int advance(ByteBuffer to) throws IOException {
        while (!plain.hasRemaining()) {
            if (ended) {
                return -1;
            }
            int from = to.position();
            // A whole record is written directly to its destination.
            boolean isRoomy = to.remaining() >= plain.capacity();
            boolean advanced = isRoomy ? unwrap(to) : unwrapToPlain();
            if (to.position() > from) {
                silent = false;
                return to.position() - from;
            }
            if (!advanced) {
                int count = fill();
                if (count <= 0) {
                    ended = count < 0;
                    return count;
                }
            }
        }
        silent = false;
        int count = Math.min(plain.remaining(), to.remaining());
        to.put(plain.slice(plain.position(), count));
        plain.position(plain.position() + count);
        return count;
    }

    private int fill() throws IOException {
        received.compact();
        int count;
        try {
            count = socket.read(received);
        } finally {
            received.flip();
        }
        if (!looked && received.hasRemaining()) {
            looked = true;
            int kind = received.get(received.position());
            if (kind != HANDSHAKE && kind != ALERT) {
                throw words.noTls();
            }
        }
        return count;
    }

    private boolean unwrapToPlain() throws IOException {
        plain.clear();
        try {
            return unwrap(plain);
        } finally {
            plain.flip();
        }
    }

    /** Decrypts one record; false if it is incomplete. */
    private boolean unwrap(ByteBuffer to) throws IOException {
        SSLEngineResult result = engine.unwrap(received, to);
        if (established && result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            throw new SSLException("the feeder wants to renegotiate, which is not allowed");
        }
        switch (result.getStatus()) {
            case BUFFER_UNDERFLOW -> {
                int packet = engine.getSession().getPacketBufferSize();
                if (received.capacity() < packet) {
                    received = ByteBuffer.allocate(2 * packet).put(received).flip();
                }
                return false;
            }
            case BUFFER_OVERFLOW ->
                plain = ByteBuffer.allocate(Math.max(
                                2 * plain.capacity(), engine.getSession().getApplicationBufferSize()))
                        .limit(0);
            case CLOSED -> ended = true;
            default -> {
                boolean isEmpty = result.bytesConsumed() > 0 && result.bytesProduced() == 0;
                if (isEmpty && emptyRecords.incrementAndGet() > MAX_EMPTY_BETWEEN_WRITES) {
                    throw new SSLException("the feeder sent more than " + MAX_EMPTY_BETWEEN_WRITES
                            + " records without data, such as KeyUpdates");
                }
            }
        }
        return true;
    }

    // ---- writing

    @Override
    public void write(ByteBuffer from) throws IOException {
        while (from.hasRemaining() && flush()) {
            seal(from);
        }
    }

    /**
     * Encrypts the data for one record, or a handshake message or an alert if there is no data. All earlier records
     * must have been sent.
     */
    private void seal(ByteBuffer from) throws IOException {
        int packet = engine.getSession().getPacketBufferSize();
        if (records.capacity() < packet) {
            records = ByteBuffer.allocate(packet);
        }
        records.clear();
        Status status;
        try {
            status = engine.wrap(from, records).getStatus();
        } finally {
            records.flip();
        }
        emptyRecords.set(0);
        if (status == Status.BUFFER_OVERFLOW) {
            records = ByteBuffer.allocate(2 * records.capacity()).limit(0);
        } else if (status == Status.CLOSED && from.hasRemaining()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public boolean flush() throws IOException {
        if (records.hasRemaining()) {
            socket.write(records);
        }
        return !records.hasRemaining();
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            engine.closeOutbound();
            for (int i = 0; i < 4 && !engine.isOutboundDone() && flush(); i++) {
                seal(NOTHING);
            }
            flush();
        } finally {
            socket.shutdownOutput();
        }
    }
}
