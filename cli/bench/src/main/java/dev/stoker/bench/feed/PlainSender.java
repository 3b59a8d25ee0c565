package dev.stoker.bench.feed;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The sending process of a plain stream: it sends the bytes of mapped files one after the other, endlessly, without
 * order, frames or checksums. It connects to the process that has started it, so that no other process can fetch the
 * files.
 *
 * <p>Its first argument is a file that lists the files; without one it sends random bytes from memory. Each line of its
 * input is a secret and an address, {@code tcp:PORT} or {@code unix:PATH}: it connects, sends the secret, and then
 * bytes until the connection ends. It ends with its input.
 */
public final class PlainSender {

    /** Bytes of one write; about a batch of 64 samples of 110 KB. */
    private static final int WRITE_BYTES = 8 << 20;
    /** More than a processor's caches. */
    private static final int RANDOM_BYTES = 256 << 20;

    private PlainSender() {}

    public static void main(String[] args) throws IOException {
        List<ByteBuffer> data = args.length == 0 ? List.of(random()) : map(Files.readAllLines(Path.of(args[0])));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ", 2);
            try (SocketChannel socket = connect(words[1])) {
                write(socket, ByteBuffer.wrap(words[0].getBytes(StandardCharsets.US_ASCII)));
                send(socket, data);
            } catch (IOException e) {
                // The receiver has measured for long enough, and has closed the connection.
            }
        }
    }

    private static SocketChannel connect(String address) throws IOException {
        if (address.startsWith("unix:")) {
            SocketAddress path = UnixDomainSocketAddress.of(address.substring("unix:".length()));
            return SocketChannel.open(path);
        }
        int port = Integer.parseInt(address.substring("tcp:".length()));
        SocketChannel socket = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        return socket;
    }

    @SuppressWarnings("InfiniteLoopStatement") // Ends with the connection.
    private static void send(SocketChannel socket, List<ByteBuffer> data) throws IOException {
        while (true) {
            for (ByteBuffer file : data) {
                for (int at = 0; at < file.limit(); at += WRITE_BYTES) {
                    write(socket, file.slice(at, Math.min(WRITE_BYTES, file.limit() - at)));
                }
            }
        }
    }

    private static void write(SocketChannel socket, ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            socket.write(bytes);
        }
    }

    private static List<ByteBuffer> map(List<String> files) throws IOException {
        List<ByteBuffer> mapped = new ArrayList<>();
        for (String file : files) {
            try (FileChannel channel = FileChannel.open(Path.of(file), StandardOpenOption.READ)) {
                if (channel.size() > 0) {
                    mapped.add(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
                }
            }
        }
        return mapped;
    }

    private static ByteBuffer random() {
        byte[] part = new byte[1 << 20];
        new SplittableRandom(1).nextBytes(part);
        ByteBuffer all = ByteBuffer.allocateDirect(RANDOM_BYTES);
        while (all.hasRemaining()) {
            all.put(part);
        }
        return all.flip();
    }
}
