package dev.stoker.feeder.simulation;

import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Protocol;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.session.accept.Listener;
import dev.stoker.server.session.accept.PendingConnection;
import dev.stoker.server.session.accept.Wire;
import dev.stoker.server.session.group.Admission;
import dev.stoker.server.threads.Threads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.function.Consumer;

/** A listener for simulated connections. Each connection has a thread until it is admitted. */
public final class SimulatedListener implements Listener {
    private final String address;
    private final Threads threads;
    private final PendingConnection.Gate gate;
    private boolean open;

    private SimulatedListener(String address, Threads threads, PendingConnection.Gate gate) {
        this.address = address;
        this.threads = threads;
        this.gate = gate;
    }

    /**
     * Starts a server on simulated threads and connections.
     *
     * @param registrar receives the function that takes connections to the address
     */
    public static FeedServer serve(
            FeedSpec spec,
            ServerOptions options,
            FeedServer.Streams streams,
            Threads threads,
            String address,
            Consumer<Consumer<Connection>> registrar)
            throws IOException {
        return new FeedServer(spec, options, streams, threads, (gate, rejected) -> {
            SimulatedListener listener = new SimulatedListener(address, threads, gate);
            registrar.accept(listener::accept);
            return listener;
        });
    }

    private void accept(Connection connection) {
        if (open) {
            threads.start("accept", () -> letIn(new SimulatedWire(connection)));
        } else {
            connection.closeServer();
        }
    }

    private void letIn(Wire wire) {
        FrameDecoder decoder = FrameDecoder.forServer();
        ByteBuffer input = ByteBuffer.allocate(Protocol.MAX_BEFORE_WELCOME);
        try {
            while (wire.read(input.clear()) >= 0) {
                Optional<Frame> frame = decoder.next(input.flip());
                if (frame.isPresent()) {
                    Admission admission = gate.judge((Hello) frame.get());
                    byte[] rest = new byte[input.remaining()];
                    input.get(rest);
                    gate.enter(wire, decoder, admission, rest);
                    return;
                }
            }
            wire.close();
        } catch (ProtocolException e) {
            refuse(wire, e);
        } catch (IOException e) {
            closeQuietly(wire);
        }
    }

    private static void refuse(Wire wire, ProtocolException e) {
        try {
            wire.write(Frames.encode(ErrorMessage.of(e)));
            wire.close();
        } catch (IOException lost) {
            closeQuietly(wire);
        }
    }

    private static void closeQuietly(Wire wire) {
        try {
            wire.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public Optional<UnixAddress> unix() {
        return Optional.empty();
    }

    @Override
    public void start() {
        open = true;
    }

    @Override
    public void close() {
        open = false;
    }

    /** The server's end of a simulated connection. */
    private record SimulatedWire(Connection connection) implements Wire {
        @Override
        public int read(ByteBuffer to) throws IOException {
            return connection.read(to);
        }

        @Override
        public int write(ByteBuffer from) throws IOException {
            return from.hasRemaining() ? connection.write(from) : 0;
        }

        @Override
        public long write(ByteBuffer[] parts) throws IOException {
            return write(parts, 0, parts.length);
        }

        @Override
        public long write(ByteBuffer[] parts, int from, int count) throws IOException {
            for (int i = from; i < from + count; i++) {
                if (parts[i].hasRemaining()) {
                    return connection.write(parts[i]);
                }
            }
            return 0;
        }

        @Override
        public void shutdownOutput() {
            connection.shutdownOutput();
        }

        @Override
        public boolean isUnix() {
            return false;
        }

        @Override
        public void keepAlive() {
            // A simulated connection tells of its end.
        }

        @Override
        public String peer() {
            return connection.peer();
        }

        @Override
        public SocketChannel socket() {
            throw new UnsupportedOperationException("a simulated connection has no socket");
        }

        @Override
        public boolean isOpen() {
            return connection.isServerOpen();
        }

        @Override
        public void close() {
            connection.closeServer();
        }
    }
}
