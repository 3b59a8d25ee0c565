package dev.stoker.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Measures the upper limit of a feed: sends the bytes of a dataset's mapped chunk files over TCP to each client that
 * connects, without order, frames or checksums. Each connection gets the files once for every round.
 *
 * <p>Usage: {@code PlainSender <dataset> <rounds>}; prints the port, serves until it is killed.
 */
public final class PlainSender {

    /** Bytes of one write; about a batch of 64 samples of 110 KB. */
    private static final int WRITE_BYTES = 8 << 20;

    private PlainSender() {}

    public static void main(String[] args) throws IOException {
        int rounds = Integer.parseInt(args[1]);
        List<ByteBuffer> files = map(Path.of(args[0], "chunks"));
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
            while (true) {
                try (SocketChannel socket = server.accept()) {
                    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    for (int round = 0; round < rounds; round++) {
                        for (ByteBuffer file : files) {
                            send(socket, file.duplicate());
                        }
                    }
                }
            }
        }
    }

    private static void send(SocketChannel socket, ByteBuffer file) throws IOException {
        int end = file.limit();
        while (file.position() < end) {
            file.limit(Math.min(end, file.position() + WRITE_BYTES));
            while (file.hasRemaining()) {
                socket.write(file);
            }
        }
    }

    private static List<ByteBuffer> map(Path directory) throws IOException {
        List<ByteBuffer> files = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(directory)) {
            walk.filter(path -> path.toString().endsWith(".arrow")).sorted().forEach(path -> {
                try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
                    files.add(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        return files;
    }
}
