package dev.stoker.feeder.simulation;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A connection. The server's end blocks the thread that reads or writes; the client's end calls a {@link
 * Network.Receiver}. As in the kernel, the buffers accept bytes for a paused process.
 */
public final class Connection {
    private final Network network;
    private final SimulatedProcess client;
    private final String address;
    private final Network.Receiver receiver;
    private final int number;
    private final int windowBytes;

    private SimulatedProcess server;
    /** Whether the connection was cut or refused, so that nothing arrives at either side. */
    private boolean broken;
    /** The error that the server gets after the break; null until it notices the break. */
    private String serverError;

    private boolean serverClosed;
    private boolean serverDone;
    private boolean clientClosed;
    private boolean clientTold;

    /** Bytes that have arrived at the server's end. */
    private final Deque<ByteBuffer> arrived = new ArrayDeque<>();
    /** Whether the client has ended its output and the server has seen it. */
    private boolean arrivedEnd;

    private long toServerNanos;
    private long toClientNanos;
    /** Number of bytes in flight to the client. */
    private int inFlight;

    private final List<SimulatedProcess.Waiter> readers = new ArrayList<>();
    private final List<SimulatedProcess.Waiter> writers = new ArrayList<>();

    Connection(
            Network network,
            SimulatedProcess client,
            String address,
            Network.Receiver receiver,
            int number,
            int windowBytes) {
        this.network = network;
        this.client = client;
        this.address = address;
        this.receiver = receiver;
        this.number = number;
        this.windowBytes = windowBytes;
        client.onKill(() -> cut("the client died"));
    }

    @Override
    public String toString() {
        return "connection " + number + " of " + client.name() + " to " + address;
    }

    boolean isOpen() {
        return server != null && !broken && !(serverClosed && clientClosed);
    }

    void establish(SimulatedProcess by) {
        server = by;
        by.onKill(() -> cut("the server died"));
        toClient(() -> {
            if (!clientClosed) {
                receiver.connected();
            }
        });
    }

    void refuse() {
        broken = true;
        tellClient("connection refused", 0);
    }

    /** Breaks the connection. Bytes in flight are lost, and each side notices after some time. */
    void cut(String why) {
        if (broken) {
            return;
        }
        broken = true;
        network.simulation.trace("network", this + " is cut: " + why);
        tellClient(why, network.delayNanos());
        if (server != null && server.isAlive()) {
            network.simulation.after(network.delayNanos(), server, "cut", () -> {
                serverError = why;
                arrived.clear();
                wake(readers);
                wake(writers);
            });
        }
    }

    private void tellClient(String why, long nanos) {
        network.simulation.after(nanos, client, "closed", () -> {
            if (!clientTold && !clientClosed) {
                clientTold = true;
                receiver.closed(why);
            }
        });
    }

    private static void wake(List<SimulatedProcess.Waiter> waiters) {
        waiters.forEach(SimulatedProcess.Waiter::wake);
        waiters.clear();
    }

    private void toClient(Runnable what) {
        Simulation simulation = network.simulation;
        toClientNanos = Math.max(toClientNanos, simulation.nowNanos() + network.delayNanos());
        simulation.after(toClientNanos - simulation.nowNanos(), client, "deliver", () -> {
            if (!broken) {
                what.run();
            }
        });
    }

    private void toServer(Runnable what) {
        Simulation simulation = network.simulation;
        toServerNanos = Math.max(toServerNanos, simulation.nowNanos() + network.delayNanos());
        simulation.after(toServerNanos - simulation.nowNanos(), null, "deliver", () -> {
            if (!broken && !serverClosed) {
                what.run();
            }
        });
    }

    // ---- the client's end

    /** Sends bytes; they may arrive in parts. */
    void send(ByteBuffer bytes) {
        if (broken || clientClosed) {
            return;
        }
        while (bytes.hasRemaining()) {
            int length = part(bytes.remaining());
            byte[] some = new byte[length];
            bytes.get(some);
            toServer(() -> {
                arrived.add(ByteBuffer.wrap(some));
                wake(readers);
            });
        }
    }

    /** Closes the client's end: the server reads what was sent, then the end. */
    void closeClient() {
        if (!clientClosed) {
            clientClosed = true;
            Simulation simulation = network.simulation;
            long at = Math.max(toServerNanos, simulation.nowNanos() + network.delayNanos());
            simulation.after(at - simulation.nowNanos(), null, "end", () -> {
                arrivedEnd = true;
                wake(readers);
                wake(writers);
            });
        }
    }

    private int part(int remaining) {
        return network.simulation.chance(0.1) ? (int) network.simulation.between(1, remaining) : remaining;
    }

    // ---- the server's end

    /** Reads bytes that have arrived, and waits for the first ones if necessary. */
    public int read(ByteBuffer to) throws IOException {
        while (true) {
            requireOpen();
            ByteBuffer next = arrived.peek();
            if (next != null) {
                int length = Math.min(to.remaining(), next.remaining());
                to.put(next.slice(next.position(), length));
                next.position(next.position() + length);
                if (!next.hasRemaining()) {
                    arrived.remove();
                }
                return length;
            }
            if (arrivedEnd) {
                return -1;
            }
            await(readers, "bytes of " + this);
        }
    }

    /** Writes some of the bytes, and waits for room if necessary. */
    public int write(ByteBuffer from) throws IOException {
        while (true) {
            requireOpen();
            if (serverDone) {
                throw new IOException("broken pipe");
            }
            int room = windowBytes - inFlight;
            if (room > 0) {
                byte[] some = new byte[part(Math.min(room, from.remaining()))];
                from.get(some);
                inFlight += some.length;
                toClient(() -> {
                    inFlight -= some.length;
                    wake(writers);
                    // A client that has sent its last frame still reads for a moment, so that the server can write.
                    if (!clientClosed) {
                        receiver.received(some);
                    }
                });
                return some.length;
            }
            await(writers, "room on " + this);
        }
    }

    private void requireOpen() throws IOException {
        if (serverClosed) {
            throw new ClosedChannelException();
        }
        if (serverError != null || !server.isAlive()) {
            throw new IOException("connection reset: " + serverError);
        }
    }

    private void await(List<SimulatedProcess.Waiter> waiters, String what) {
        SimulatedProcess.Waiter waiter = server.waiter();
        waiters.add(waiter);
        waiter.await(what, -1);
    }

    /** Ends the server's output. Bytes that were written still arrive. */
    public void shutdownOutput() {
        if (!serverDone && !serverClosed) {
            serverDone = true;
            toClient(() -> tellClient("the server ended the connection", 0));
        }
    }

    /** Returns whether the server's end is open. */
    public boolean isServerOpen() {
        return !serverClosed;
    }

    /** Closes the server's end. */
    public void closeServer() {
        if (!serverClosed) {
            shutdownOutput();
            serverClosed = true;
            arrived.clear();
            wake(readers);
            wake(writers);
        }
    }

    /** Returns the name of the client, for logs. */
    public String peer() {
        return Arrays.asList(client.name(), number).toString();
    }
}
