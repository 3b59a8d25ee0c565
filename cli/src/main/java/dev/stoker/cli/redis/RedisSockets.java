package dev.stoker.cli.redis;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.JedisSocketFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Connects to a server that is not trusted. A request of a thread ends at the thread's deadline, however slowly the
 * bytes of the answer arrive, and {@link ReplyCheck} checks each reply. Thread-safe.
 */
final class RedisSockets implements JedisSocketFactory {
    /** Room for a request, so that a server that reads nothing does not hold a writer. */
    private static final int SEND_BYTES = 256 << 10;

    /** The time of {@link System#nanoTime} by which the present step of a thread ends. */
    private static final ThreadLocal<@Nullable Long> DEADLINE = new ThreadLocal<>();

    private final String host;
    private final int port;
    private final boolean tls;
    private final int timeoutMs;

    /** @param timeoutMs the most time for a connection, and for each read of a thread without a deadline */
    RedisSockets(String host, int port, boolean tls, int timeoutMs) {
        this.host = host;
        this.port = port;
        this.tls = tls;
        this.timeoutMs = timeoutMs;
    }

    /** A step that talks to the server. */
    interface Step<T> {
        T run();
    }

    /** Runs a step of this thread that must end by a time of {@link System#nanoTime}. */
    <T> T until(long nanos, Step<T> step) {
        DEADLINE.set(nanos);
        try {
            return step.run();
        } finally {
            DEADLINE.remove();
        }
    }

    private int remainingMs() throws SocketTimeoutException {
        Long end = DEADLINE.get();
        if (end == null) {
            return timeoutMs;
        }
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left <= 0) {
            throw new SocketTimeoutException("no whole answer within " + timeoutMs + " ms");
        }
        return (int) Math.min(timeoutMs, left);
    }

    @Override
    public Socket createSocket() {
        Socket socket = new Timed();
        try {
            socket.setTcpNoDelay(true);
            socket.setKeepAlive(true);
            socket.setSendBufferSize(SEND_BYTES);
            socket.connect(new InetSocketAddress(host, port), remainingMs());
            return new Checked(tls ? secured(socket) : socket);
        } catch (IOException e) {
            try {
                socket.close();
            } catch (IOException second) {
                e.addSuppressed(second);
            }
            throw new JedisConnectionException(e.getMessage(), e);
        }
    }

    private SSLSocket secured(Socket socket) throws IOException {
        SSLSocket secured =
                (SSLSocket) ((SSLSocketFactory) SSLSocketFactory.getDefault()).createSocket(socket, host, port, true);
        SSLParameters parameters = secured.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        secured.setSSLParameters(parameters);
        secured.startHandshake();
        return secured;
    }

    /** A socket of which each read ends by the deadline of its thread. */
    private final class Timed extends Socket {
        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    setSoTimeout(remainingMs());
                    return super.read();
                }

                @Override
                public int read(byte[] target, int offset, int length) throws IOException {
                    setSoTimeout(remainingMs());
                    return super.read(target, offset, length);
                }
            };
        }
    }

    /** Another socket with checked replies. It has only the methods that the client calls. */
    @SuppressWarnings("UnsynchronizedOverridesSynchronized") // the other socket synchronizes
    private static final class Checked extends Socket {
        private final Socket socket;
        private final InputStream in;

        Checked(Socket socket) throws IOException {
            this.socket = socket;
            this.in = new ReplyCheck(socket.getInputStream());
        }

        @Override
        public InputStream getInputStream() {
            return in;
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return socket.getOutputStream();
        }

        @Override
        public void setSoTimeout(int timeout) throws SocketException {
            socket.setSoTimeout(timeout);
        }

        @Override
        public int getSoTimeout() throws SocketException {
            return socket.getSoTimeout();
        }

        @Override
        public SocketAddress getLocalSocketAddress() {
            return socket.getLocalSocketAddress();
        }

        @Override
        public SocketAddress getRemoteSocketAddress() {
            return socket.getRemoteSocketAddress();
        }

        @Override
        public boolean isBound() {
            return socket.isBound();
        }

        @Override
        public boolean isConnected() {
            return socket.isConnected();
        }

        @Override
        public boolean isClosed() {
            return socket.isClosed();
        }

        @Override
        public boolean isInputShutdown() {
            return socket.isInputShutdown();
        }

        @Override
        public boolean isOutputShutdown() {
            return socket.isOutputShutdown();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
