package dev.stoker.server.session.accept;

import dev.stoker.schemas.protocol.Protocol;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections, and watches each until it is admitted or rejected. One thread handles all of them.
 *
 * <p>Before a connection is admitted, it costs a socket and at most 16 KiB, which are allocated as bytes arrive. Under
 * TLS it also costs an engine and room for three records. At most {@link #MAX_PENDING} connections wait at a time;
 * beyond that, the one that has waited longest is closed. After an error, the server waits up to one second for the
 * peer to close, so that a reset does not discard the error frame.
 */
public final class Acceptor implements AutoCloseable {
    static final int MAX_PENDING = 256;

    private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
    private static final long ACCEPT_PAUSE_MS = 100;
    /**
     * The effective default of TCP on loopback. The default of Unix-domain sockets, 208 KiB, makes sender and receiver
     * take turns.
     */
    private static final int UNIX_SEND_BYTES = 4 << 20;

    private final ServerSocketChannel server;
    private final Selector selector;
    private final SelectionKey acceptKey;
    /** The Unix-domain socket, if it exists. */
    private final Optional<ServerSocketChannel> local;

    private final PendingConnection.Gate gate;
    private final LongAdder rejected;
    private final Thread thread;
    private final LinkedHashSet<PendingConnection> pending = new LinkedHashSet<>();
    private final ByteBuffer input = ByteBuffer.allocate(Protocol.MAX_BEFORE_WELCOME);
    private final RateLimitedLog failures = new RateLimitedLog(10_000);
    private long acceptAgainMs;
    private volatile boolean closed;

    /** Binds the first free port of a range. */
    public static ServerSocketChannel bind(String host, PortRange ports) throws IOException {
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
    Acceptor(
            ServerSocketChannel server,
            Optional<ServerSocketChannel> local,
            PendingConnection.Gate gate,
            LongAdder rejected)
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

    public void start() {
        thread.start();
    }

    private void run() {
        while (!closed) {
            try {
                selector.select(pending.isEmpty() && acceptAgainMs == 0 ? 0 : 50);
                round();
            } catch (ClosedSelectorException e) {
                break;
            } catch (IOException | RuntimeException | Error e) {
                // Errors are caught too: without this thread nobody can connect, and an exhausted resource may become
                // free again.
                survive(e);
            }
        }
        new ArrayList<>(pending).forEach(this::drop);
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
                PendingConnection connection = (PendingConnection) key.attachment();
                try {
                    read(connection, key, now);
                } catch (IOException | RuntimeException | Error e) {
                    // Any failure here concerns this connection only.
                    LOG.debug("A connection ended before its session began", e);
                    gone(connection);
                }
            }
        }
        for (PendingConnection connection : new ArrayList<>(pending)) {
            if (connection.isExpired(now)) {
                drop(connection);
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
                for (int drops = pending.size() / 2; drops >= 0; drops--) {
                    dropOldest();
                }
                acceptOps(0);
                acceptAgainMs = now + ACCEPT_PAUSE_MS;
                return;
            }
            if (channel == null) {
                return;
            }
            PendingConnection connection;
            try {
                connection = new PendingConnection(gate, channel, rejected, now);
                channel.configureBlocking(false);
                if (listener == server) {
                    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
                } else {
                    channel.setOption(StandardSocketOptions.SO_SNDBUF, UNIX_SEND_BYTES);
                }
                channel.register(selector, SelectionKey.OP_READ, connection);
            } catch (IOException | RuntimeException | Error e) {
                closeQuietly(channel);
                LOG.debug("A connection cannot be read", e);
                continue;
            }
            if (pending.size() >= MAX_PENDING) {
                dropOldest();
            }
            pending.add(connection);
        }
    }

    private void read(PendingConnection connection, SelectionKey key, long now) throws IOException {
        if (connection.isLeaving()) {
            if (!connection.discard(input)) {
                drop(connection);
            }
        } else if (connection.read(input, now)) {
            key.cancel();
            selector.selectNow();
            pending.remove(connection);
            if (!connection.enter(input, now)) {
                connection.channel().register(selector, SelectionKey.OP_READ, connection);
                pending.add(connection);
            }
        } else if (connection.hasEnded()) {
            gone(connection);
        }
    }

    private void dropOldest() {
        Iterator<PendingConnection> oldest = pending.iterator();
        if (oldest.hasNext()) {
            drop(oldest.next());
        }
    }

    /** Handles a connection that the peer has closed. */
    private void gone(PendingConnection connection) {
        if (connection.wasHeard()) {
            drop(connection);
        } else {
            pending.remove(connection);
            closeQuietly(connection.channel());
        }
    }

    private void drop(PendingConnection connection) {
        pending.remove(connection);
        if (!connection.isLeaving()) {
            rejected.increment();
        }
        closeQuietly(connection.channel());
    }

    private static void closeQuietly(SocketChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            LOG.debug("A connection did not close cleanly", e);
        }
    }

    public static long nowMs() {
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
