package dev.stoker.client.transport;

import dev.stoker.client.errors.TlsException;
import dev.stoker.transport.TlsRecords;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.security.GeneralSecurityException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/**
 * A connected socket under TLS, version 1.2 or 1.3. After the handshake, one thread reads while another writes. Never
 * blocks.
 */
public final class TlsWire implements Wire {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final int RECORDS_AT_ONCE = 8;
    private static final int ALERT = 21;
    private static final int HANDSHAKE = 22;
    /**
     * A feeder changes its keys every 128 GiB. The engine queues an answer to each KeyUpdate, which the next write
     * sends.
     */
    private static final int MAX_EMPTY_BETWEEN_WRITES = 1024;

    private final SocketChannel socket;
    private final TlsRecords records;
    private final TlsErrors words;

    // The reader's.
    private boolean looked;
    private boolean ended;
    /** No byte has arrived from the feeder yet. */
    private boolean silent = true;

    /**
     * Reads the files with certificates.
     *
     * @throws TlsException if a file cannot be used
     */
    public TlsWire(SocketChannel socket, Tls tls, String address) throws IOException {
        this.socket = socket;
        Address place = Address.parse(address).orElseThrow();
        String name = tls.name().orElse(place.host());
        SSLEngine engine;
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
        records = new TlsRecords(engine, "feeder", RECORDS_AT_ONCE, TlsWire::countEmpty);
    }

    private static void countEmpty(boolean isHandshake, int sinceWrite) throws SSLException {
        if (sinceWrite > MAX_EMPTY_BETWEEN_WRITES) {
            throw new SSLException("the feeder sent more than " + MAX_EMPTY_BETWEEN_WRITES
                    + " records without data, such as KeyUpdates");
        }
    }

    @Override
    public int secure() throws IOException {
        try {
            while (!records.isEstablished()) {
                if (!flush()) {
                    return SelectionKey.OP_WRITE;
                }
                if (!records.handshake()) {
                    int count = fill();
                    if (count < 0) {
                        throw new IOException("the connection was closed during the TLS handshake");
                    }
                    if (count == 0) {
                        return SelectionKey.OP_READ;
                    }
                }
            }
            return 0;
        } catch (SSLException e) {
            records.tellWhy(e, this::flush);
            throw words.explained(e);
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
        while (!ended) {
            int count = records.read(to);
            if (count != 0 || !to.hasRemaining()) {
                silent &= count <= 0;
                return count;
            }
            int received = fill();
            if (received <= 0) {
                ended = received < 0;
                return received;
            }
        }
        return -1;
    }

    private int fill() throws IOException {
        int count = records.receive(socket);
        ByteBuffer received = records.received();
        if (!looked && received.hasRemaining()) {
            looked = true;
            int kind = received.get(received.position());
            if (kind != HANDSHAKE && kind != ALERT) {
                throw words.noTls();
            }
        }
        return count;
    }

    // ---- writing

    @Override
    public void write(ByteBuffer from) throws IOException {
        while (from.hasRemaining() && flush()) {
            if (!records.wrap(from)) {
                throw new ClosedChannelException();
            }
        }
    }

    @Override
    public boolean flush() throws IOException {
        ByteBuffer pending = records.pending();
        if (pending.hasRemaining()) {
            socket.write(pending);
        }
        return !pending.hasRemaining();
    }

    @Override
    public void shutdownOutput() throws IOException {
        try {
            records.close(this::flush);
        } finally {
            socket.shutdownOutput();
        }
    }
}
