package dev.stoker.client.feeder;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The input thread of one client: waits for sockets, receives, and lets the {@link Network} act when something is due.
 * It takes the client's lock to act, and does not hold the lock while it waits or reads. Its own state belongs to this
 * thread.
 */
final class InputThread implements Runnable {
    /** Bytes received from one connection before the others get a turn. */
    private static final long ROUND_BYTES = 4 << 20;
    /** How long closing a client waits for the delivery of the last receipts. */
    private static final long PART_NS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock;
    private final Network network;
    private final Selector selector;
    /** Connections that may have more data to read. */
    private final Set<FeederConnection> hot = new LinkedHashSet<>();

    private volatile boolean stopping;

    InputThread(ReentrantLock lock, Network network) {
        this.lock = lock;
        this.network = network;
        this.selector = network.selector();
    }

    /** Asks the thread to deliver the last receipts, to say goodbye and to end. Any thread. */
    void stop() {
        stopping = true;
        selector.wakeup();
    }

    @Override
    public void run() {
        try {
            while (!stopping) {
                step(Long.MAX_VALUE);
            }
            part(System.nanoTime() + PART_NS);
        } catch (FeedException e) {
            locked(() -> network.fail(e));
        } catch (IOException | RuntimeException | Error e) {
            // Catches errors too: only this thread can tell the trainer, which would otherwise wait for ever.
            locked(() -> network.fail(new FeedException("the client's input thread failed: " + e + advice(e), e)));
        } finally {
            release();
        }
    }

    private static String advice(Throwable failure) {
        return failure instanceof OutOfMemoryError
                ? "; raise -XX:MaxDirectMemorySize or -Xmx of the trainer, or lower bufferBytes"
                : "";
    }

    private void locked(Runnable action) {
        lock.lock();
        try {
            action.run();
        } finally {
            lock.unlock();
        }
    }

    /** Receives the available data or waits for it, and performs the actions that are due. */
    private void step(long untilNs) throws IOException {
        long nowNs = System.nanoTime();
        if (nowNs - network.tickAtNs() >= 0) {
            locked(() -> network.tick(nowNs));
        }
        long waitNs =
                Math.min(network.tickAtNs() - nowNs, untilNs == Long.MAX_VALUE ? Network.IDLE_NS : untilNs - nowNs);
        hot.removeIf(FeederConnection::isClosed);
        if (hot.isEmpty() && waitNs > 0) {
            selector.select(Math.max(1, TimeUnit.NANOSECONDS.toMillis(waitNs)));
        } else {
            selector.selectNow();
        }
        for (SelectionKey key : selector.selectedKeys()) {
            ready(key);
        }
        selector.selectedKeys().clear();
        for (FeederConnection connection : List.copyOf(hot)) {
            receive(connection);
        }
    }

    private void ready(SelectionKey key) {
        FeederConnection connection = (FeederConnection) key.attachment();
        if (!key.isValid()) {
            return;
        }
        if (connection.state() == FeederConnection.State.CONNECTING
                || connection.state() == FeederConnection.State.SECURING) {
            locked(() -> network.greet(connection));
            return;
        }
        if (key.isWritable()) {
            locked(connection::flush);
        }
        if (key.isValid() && key.isReadable()) {
            hot.add(connection);
        }
    }

    private void receive(FeederConnection connection) {
        long enough = connection.bytesReceived() + ROUND_BYTES;
        try {
            while (!connection.isClosed() && connection.receive()) {
                if (connection.bytesReceived() >= enough) {
                    return;
                }
            }
            hot.remove(connection);
        } catch (ConnectionLostException e) {
            locked(() -> {
                if (e.kind() == ConnectionLostException.Kind.BROKEN) {
                    network.broken(new FeedProtocolException(ErrorText.of(e), "bad_frame"));
                }
                network.lost(connection, ErrorText.of(e), e.kind() == ConnectionLostException.Kind.ELSEWHERE);
            });
        } catch (TlsException e) {
            locked(() -> network.refused(connection, e));
        }
    }

    /** Delivers the last receipts, over a new connection if necessary, and says goodbye. */
    private void part(long deadlineNs) throws IOException {
        locked(network::tellStats);
        Farewell farewell = network.farewell();
        boolean isDelivered = false;
        while (!isDelivered && System.nanoTime() - deadlineNs < 0) {
            lock.lock();
            try {
                if (network.failure().isPresent()) {
                    break;
                }
                isDelivered = farewell.deliver();
            } finally {
                lock.unlock();
            }
            if (!isDelivered) {
                step(System.nanoTime() + Network.WAITING_NS);
            }
        }
        List<FeederConnection> left = new ArrayList<>();
        locked(() -> left.addAll(farewell.sayGoodbye()));
        while (!left.isEmpty() && System.nanoTime() - deadlineNs < 0) {
            selector.select(10);
            selector.selectedKeys().clear();
            left.removeIf(connection -> !connection.skip());
        }
    }

    private void release() {
        locked(network::release);
        try {
            selector.close();
        } catch (IOException e) {
            // Nothing depends on it any more.
        }
    }
}
