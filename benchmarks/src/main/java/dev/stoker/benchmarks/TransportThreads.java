package dev.stoker.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.IntFunction;

/** Two threads for each session, as in the feeder: one reads, and one writes with blocking gathering writes. */
final class TransportThreads implements AutoCloseable {
    private static final int QUEUED = 256;

    private final ServerSocketChannel server;

    /** @param pieces of the session with this number, or null for a session without data */
    TransportThreads(IntFunction<TransportPieces> pieces) throws IOException {
        this.server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        start("accept", () -> {
            while (true) {
                SocketChannel socket = server.accept();
                socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                serve(socket, pieces);
            }
        });
    }

    int port() throws IOException {
        return ((InetSocketAddress) server.getLocalAddress()).getPort();
    }

    private static void serve(SocketChannel socket, IntFunction<TransportPieces> pieces) {
        BlockingQueue<Long> pings = new ArrayBlockingQueue<>(QUEUED);
        start("read", () -> {
            ByteBuffer in = ByteBuffer.allocateDirect(8).order(ByteOrder.LITTLE_ENDIAN);
            readFully(socket, in);
            TransportPieces mine = pieces.apply((int) in.getLong(0));
            start("write", () -> write(socket, mine, pings));
            while (readFully(socket, in.clear())) {
                pings.put(in.getLong(0));
            }
        });
    }

    private static void write(SocketChannel socket, TransportPieces pieces, BlockingQueue<Long> pings)
            throws IOException, InterruptedException {
        try (socket) {
            while (true) {
                Long ping = pieces == null ? pings.take() : pings.poll();
                if (ping != null) {
                    ByteBuffer pong = TransportPieces.pong(ping);
                    writeAll(socket, new ByteBuffer[] {pong}, pong.remaining());
                } else {
                    writeAll(socket, pieces.next(), pieces.bytes());
                }
            }
        }
    }

    private static void writeAll(SocketChannel socket, ByteBuffer[] parts, long bytes) throws IOException {
        int from = 0;
        for (long left = bytes; left > 0; ) {
            left -= socket.write(parts, from, parts.length - from);
            while (from < parts.length && !parts[from].hasRemaining()) {
                from++;
            }
        }
    }

    private static boolean readFully(SocketChannel socket, ByteBuffer in) throws IOException {
        while (in.hasRemaining()) {
            if (socket.read(in) < 0) {
                return false;
            }
        }
        return true;
    }

    private interface Body {
        void run() throws IOException, InterruptedException;
    }

    /** Runs until the other side or the benchmark closes the connection. */
    private static void start(String name, Body body) {
        Thread thread = new Thread(
                () -> {
                    try {
                        body.run();
                    } catch (IOException | InterruptedException e) {
                        // The measurement is over.
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
