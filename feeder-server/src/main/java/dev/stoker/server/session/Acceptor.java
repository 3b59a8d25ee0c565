package dev.stoker.server.session;

import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.FrameDecoder;
import dev.stoker.schemas.protocol.Frames;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.server.feed.PortRange;
import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections, reads the first frame of each, and admits or rejects it. One thread handles all of them.
 *
 * <p>Before a connection is admitted, it costs a socket and at most 16 KiB, which are allocated as bytes arrive. Under
 * TLS it also costs an engine and room for three records. At most {@link #MAX_PENDING} connections wait at a time;
 * beyond that, the one that has waited longest is closed. After an error, the server waits up to one second for the
 * peer to close, so that a reset does not discard the error frame.
 */
public final class Acceptor implements AutoCloseable {
    static final int MAX_PENDING = 256;

    private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
    private static final long HELLO_TIMEOUT_MS = 10_000;
    private static final long FAREWELL_MS = 1_000;
    private static final int FAREWELL_LIMIT = 4 << 20;
    private static final long ACCEPT_PAUSE_MS = 100;
    /**
     * The effective default of TCP on loopback. The default of Unix-domain sockets, 208 KiB, makes sender and receiver
     * take turns.
     */
    private static final int UNIX_SEND_BYTES = 4 << 20;

    private static final String WANTS_TLS =
            "this feed is served over TLS only: give the trainer the certificate to trust,"
                    + " tls=FILE or STOKER_TLS_CA";

    /** Checks first frames. Runs on the accepting thread and must not block. */
    public interface Gate {
        /** Returns normally if the client is admitted. */
        void judge(Hello hello) throws ProtocolException;

        /** Returns the connection through which a socket is read. */
        Wire wire(SocketChannel channel) throws IOException;

        /**
         * Takes over the connection, which is in blocking mode, its decoder, and the bytes that followed HELLO.
         *
         * @throws ProtocolException if there is no room for a session; the caller then still owns the connection
         */
        void enter(Wire wire, FrameDecoder decoder, Hello hello, byte[] rest) throws IOException;
    }

    /** A connection that was not admitted yet. */
    private static final class Guest {
        final SocketChannel channel;
        final Wire wire;
        final FrameDecoder decoder = FrameDecoder.forServer();
        long deadlineMs;
        boolean leaving;
        /**
         * Whether the peer has sent anything. Connections without any bytes, such as health checks, do not count as
         * rejected.
         */
        boolean heard;

        boolean probes;
        long discarded;

        Guest(Wire wire, long deadlineMs) {
            this.channel = wire.socket();
            this.wire = wire;
            this.deadlineMs = deadlineMs;
        }
    }

    private final ServerSocketChannel server;
    private final Selector selector;
    private final SelectionKey acceptKey;
    /** The Unix-domain socket, if it exists. */
    private final Optional<ServerSocketChannel> local;

    private final Gate gate;
    private final LongAdder rejected;
    private final Thread thread;
    private final LinkedHashSet<Guest> guests = new LinkedHashSet<>();
    private final ByteBuffer input = ByteBuffer.allocate(Protocol.MAX_BEFORE_WELCOME);
    private final RateLimitedLog failures = new RateLimitedLog(10_000);
    private long acceptAgainMs;
    private volatile boolean closed;

    /** Binds the first free port of a range. */
    static ServerSocketChannel bind(String host, PortRange ports) throws IOException {
        BindException taken = null;
        for (int port = ports.first(); port <= ports.last(); port++) {
            ServerSocketChannel server = ServerSocketChannel.open();
            try {
                server.bind(new InetSocketAddress(host, port), 1024);
                return server;
            } catch (BindException e) {
                server.close();
                taken = e;
            } catch (IOException | RuntimeException e) {
                server.close();
                throw e;
            }
        }
        throw taken;
    }

    /**
     * Takes over the bound socket; {@link #start} begins to accept connections.
     *
     * @param local an additional bound Unix-domain socket, which its owner closes
     * @param rejected counts rejected connections, without probes and connections that closed without sending anything
     */
    Acceptor(ServerSocketChannel server, Optional<ServerSocketChannel> local, Gate gate, LongAdder rejected)
            throws IOException {
        this.server = server;
        this.local = local;
        this.gate = gate;
        this.rejected = rejected;
        server.configureBlocking(false);
        selector = Selector.open();
        acceptKey = server.register(selector, SelectionKey.OP_ACCEPT);
        if (local.isPresent()) {
            local.get().configureBlocking(false);
            local.get().register(selector, SelectionKey.OP_ACCEPT);
        }
        thread = new Thread(this::run, "stoker-accept-" + port());
        thread.setDaemon(true);
    }

    int port() throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    void start() {
        thread.start();
    }

    private void run() {
        while (!closed) {
            try {
                selector.select(guests.isEmpty() && acceptAgainMs == 0 ? 0 : 50);
                round();
            } catch (ClosedSelectorException e) {
                break;
            } catch (IOException | RuntimeException | Error e) {
                // Errors are caught too: without this thread nobody can connect, and an exhausted resource may become
                // free again.
                survive(e);
            }
        }
        new ArrayList<>(guests).forEach(this::drop);
    }

    private void survive(Throwable failure) {
        try {
            if (failures.permits(nowMs())) {
                LOG.warn("A round of the accept loop failed; continuing", failure);
            }
        } catch (RuntimeException | Error e) {
            // There is no memory for a log line either.
        }
        // A persistent failure must not occupy a processor.
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ACCEPT_PAUSE_MS));
    }

    private void round() throws IOException {
        long now = nowMs();
        if (acceptAgainMs != 0 && now >= acceptAgainMs) {
            acceptAgainMs = 0;
            acceptOps(SelectionKey.OP_ACCEPT);
        }
        // A copy, because admitting a connection selects again.
        List<SelectionKey> ready = List.copyOf(selector.selectedKeys());
        selector.selectedKeys().clear();
        for (SelectionKey key : ready) {
            if (!key.isValid()) {
                continue;
            }
            if (key.channel() instanceof ServerSocketChannel listener) {
                accept(listener, now);
            } else {
                Guest guest = (Guest) key.attachment();
                try {
                    read(guest, key, now);
                } catch (IOException | RuntimeException | Error e) {
                    // Any failure here concerns this connection only.
                    LOG.debug("A connection ended before its session began", e);
                    gone(guest);
                }
            }
        }
        for (Guest guest : new ArrayList<>(guests)) {
            if (now >= guest.deadlineMs) {
                drop(guest);
            }
        }
    }

    private void acceptOps(int ops) {
        acceptKey.interestOps(ops);
        local.ifPresent(listener -> listener.keyFor(selector).interestOps(ops));
    }

    private void accept(ServerSocketChannel listener, long now) {
        for (int i = 0; i < 64; i++) {
            SocketChannel channel;
            try {
                channel = listener.accept();
            } catch (IOException e) {
                // The process is probably out of file descriptors. Make room, and do not spin on a socket that stays
                // ready.
                if (failures.permits(now)) {
                    LOG.warn(
                            "Cannot accept a connection: {}; retrying in {} ms; if the process is out of file"
                                    + " descriptors, raise its limit (ulimit -n)",
                            e.toString(),
                            ACCEPT_PAUSE_MS);
                }
                for (int drops = guests.size() / 2; drops >= 0; drops--) {
                    dropOldest();
                }
                acceptOps(0);
                acceptAgainMs = now + ACCEPT_PAUSE_MS;
                return;
            }
            if (channel == null) {
                return;
            }
            Guest guest;
            try {
                guest = new Guest(gate.wire(channel), now + HELLO_TIMEOUT_MS);
                channel.configureBlocking(false);
                if (listener == server) {
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                } else {
                    channel.setOption(StandardSocketOptions.SO_SNDBUF, UNIX_SEND_BYTES);
                }
                channel.register(selector, SelectionKey.OP_READ, guest);
            } catch (IOException | RuntimeException | Error e) {
                closeQuietly(channel);
                LOG.debug("A connection cannot be read", e);
                continue;
            }
            if (guests.size() >= MAX_PENDING) {
                dropOldest();
            }
            guests.add(guest);
        }
    }

    private void read(Guest guest, SelectionKey key, long now) throws IOException {
        if (guest.leaving) {
            input.clear();
            int n = guest.channel.read(input);
            guest.discarded += Math.max(0, n);
            if (n < 0 || guest.discarded > FAREWELL_LIMIT) {
                drop(guest);
            }
            return;
        }
        try {
            int bytes;
            // Read all bytes that are available: the socket does not become ready again for bytes that TLS has
            // decrypted.
            while ((bytes = guest.wire.read(input.clear())) > 0 && nowMs() < guest.deadlineMs) {
                guest.probes =
                        !guest.heard && Protocol.isProbe(input.duplicate().flip());
                guest.heard = true;
                Optional<Frame> frame = guest.decoder.next(input.flip());
                if (frame.isPresent()) {
                    // The decoder guarantees that HELLO is the first frame and that nothing else precedes WELCOME.
                    Hello hello = (Hello) frame.get();
                    gate.judge(hello);
                    letIn(guest, key, hello);
                    return;
                }
            }
            if (bytes < 0) {
                gone(guest);
            }
            guest.heard = true;
        } catch (ProtocolException e) {
            leave(guest, now, guest.probes);
            // A socket without earlier output accepts a small frame at once. A peer that prevents this gets no error
            // frame.
            guest.wire.write(Frames.encode(ErrorMessage.of(e)));
            guest.wire.shutdownOutput();
        } catch (PlainTextException e) {
            leave(guest, now, e.isProbe());
            guest.channel.write(Frames.encode(new ErrorMessage(ErrorCode.UNAUTHORIZED, WANTS_TLS)));
            guest.channel.shutdownOutput();
        } catch (SSLException e) {
            LOG.info("A connection from {} is not secure: {}", guest.channel.getRemoteAddress(), e.getMessage());
            leave(guest, now, false);
            guest.channel.shutdownOutput();
        }
    }

    private void letIn(Guest guest, SelectionKey key, Hello hello) throws IOException {
        byte[] rest = new byte[input.remaining()];
        input.get(rest);
        key.cancel();
        selector.selectNow();
        guests.remove(guest);
        guest.channel.configureBlocking(true);
        guest.wire.admitted();
        try {
            gate.enter(guest.wire, guest.decoder, hello, rest);
        } catch (ProtocolException e) {
            // Rejected at the last moment: report it to the peer as for any other connection.
            guest.channel.configureBlocking(false);
            guest.channel.register(selector, SelectionKey.OP_READ, guest);
            guests.add(guest);
            throw e;
        }
    }

    /**
     * Ends a connection, and counts it as rejected unless it only probed the server. Reads and discards what the peer
     * still sends.
     */
    private void leave(Guest guest, long now, boolean probes) {
        if (!probes) {
            rejected.increment();
        }
        guest.leaving = true;
        guest.deadlineMs = now + FAREWELL_MS;
    }

    private void dropOldest() {
        Iterator<Guest> oldest = guests.iterator();
        if (oldest.hasNext()) {
            drop(oldest.next());
        }
    }

    /** Handles a connection that the peer has closed. */
    private void gone(Guest guest) {
        if (guest.heard) {
            drop(guest);
        } else {
            guests.remove(guest);
            closeQuietly(guest.channel);
        }
    }

    private void drop(Guest guest) {
        guests.remove(guest);
        if (!guest.leaving) {
            rejected.increment();
        }
        closeQuietly(guest.channel);
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A connection did not close cleanly", e);
        }
    }

    private static long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    /** Stops accepting connections and frees the port. */
    @Override
    public void close() throws IOException {
        closed = true;
        server.close();
        selector.wakeup();
        boolean interrupted = false;
        try {
            if (thread.isAlive() && Thread.currentThread() != thread) {
                thread.join(2_000);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        selector.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
