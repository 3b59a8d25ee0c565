package dev.stoker.bench.feed;

import dev.stoker.bench.measure.Progress;
import dev.stoker.schemas.errors.StokerException;
import java.io.EOFException;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;

/**
 * The receiving end of a plain stream, in this process. It listens on loopback, or in a private directory, for the
 * moment in which the sender connects. For one thread.
 */
public final class PlainStream implements AutoCloseable {

    /** How the bytes travel. */
    public enum Transport {
        TCP,
        UNIX
    }

    /** Whether the receiver computes a checksum, as each reader of a feed does. */
    enum Check {
        NONE,
        CRC32C
    }

    private static final int BUFFER_BYTES = 8 << 20;
    private static final int SOCKET_BYTES = 4 << 20;
    private static final int LOOK_MS = 100;

    private final Process sender;
    private final Writer commands;
    private final Path directory;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private int sockets;

    /**
     * Starts the sender.
     *
     * @param sender a process of {@link PlainSender}; this object ends it
     * @param directory a private directory for sockets; stays
     */
    public PlainStream(ProcessBuilder sender, Path directory) throws IOException {
        this.sender = sender.redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        this.commands = this.sender.outputWriter(StandardCharsets.UTF_8);
        this.directory = directory;
    }

    /** Receives for some time, or until the user stops the measurement. */
    Slice receive(Transport transport, Check check, Duration time, Progress progress) throws IOException {
        String secret = UUID.randomUUID().toString();
        Path path = directory.resolve("plain-" + sockets++ + ".sock");
        try (ServerSocketChannel server = transport == Transport.UNIX
                ? ServerSocketChannel.open(StandardProtocolFamily.UNIX)
                : ServerSocketChannel.open()) {
            String address;
            if (transport == Transport.UNIX) {
                server.bind(UnixDomainSocketAddress.of(path));
                address = "unix:" + path;
            } else {
                server.setOption(StandardSocketOptions.SO_RCVBUF, SOCKET_BYTES);
                server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                address = "tcp:" + ((InetSocketAddress) server.getLocalAddress()).getPort();
            }
            requireAlive();
            commands.write(secret + " " + address + "\n");
            commands.flush();
            try (SocketChannel socket = accept(server)) {
                requireSecret(socket, secret);
                return receive(socket, check, time, progress);
            }
        } finally {
            Files.deleteIfExists(path);
        }
    }

    /** Waits for the sender, whose start takes a moment, as long as it lives. */
    private SocketChannel accept(ServerSocketChannel server) throws IOException {
        try (Selector selector = Selector.open()) {
            server.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            while (true) {
                selector.select(LOOK_MS);
                SocketChannel socket = server.accept();
                if (socket != null) {
                    return socket;
                }
                requireAlive();
            }
        }
    }

    private void requireAlive() throws StokerException {
        if (!sender.isAlive()) {
            throw new StokerException("the sender of the plain stream has ended with code " + sender.exitValue());
        }
    }

    private static void requireSecret(SocketChannel socket, String secret) throws IOException {
        ByteBuffer said = ByteBuffer.allocate(secret.length());
        fill(socket, said);
        if (!StandardCharsets.US_ASCII.decode(said.flip()).toString().equals(secret)) {
            throw new StokerException("another process connected to the receiver of the plain stream; try again");
        }
    }

    private static void fill(SocketChannel socket, ByteBuffer target) throws IOException {
        while (target.hasRemaining()) {
            if (socket.read(target) < 0) {
                throw new EOFException("the sender of the plain stream closed the connection");
            }
        }
    }

    private Slice receive(SocketChannel socket, Check check, Duration time, Progress progress) throws IOException {
        CRC32C crc = new CRC32C();
        fill(socket, buffer.clear());
        double ownCpu = CpuTime.ofThisProcess();
        double senderCpu = CpuTime.of(Optional.of(sender.toHandle()));
        long began = System.nanoTime();
        long bytes = 0;
        long now = began;
        while (bytes == 0 || (now - began < time.toNanos() && !progress.isStopped())) {
            fill(socket, buffer.clear());
            if (check == Check.CRC32C) {
                crc.update(buffer.flip());
            }
            bytes += BUFFER_BYTES;
            now = System.nanoTime();
        }
        return new Slice(
                bytes,
                0,
                (now - began) / 1e9,
                CpuTime.ofThisProcess() - ownCpu,
                CpuTime.of(Optional.of(sender.toHandle())) - senderCpu);
    }

    @Override
    public void close() throws IOException {
        try {
            commands.close();
            if (!sender.waitFor(5, TimeUnit.SECONDS)) {
                sender.destroyForcibly();
            }
        } catch (InterruptedException e) {
            sender.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
