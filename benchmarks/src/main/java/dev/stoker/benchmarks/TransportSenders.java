package dev.stoker.benchmarks;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * The two candidates for the feeder's data path, sending the same batches without end to whoever connects: a small buffer and
 * 64 slices at random places of mapped chunk files.
 *
 * <p>Usage: {@code TransportSenders <threads|netty> <dataset> <bytes of a sample>}; prints the port, serves until killed.
 */
public final class TransportSenders {
    private static final int ROWS = 64;
    private static final int SMALL_BYTES = 4096;
    private static final int MAX_PARTS = 1024;

    private TransportSenders() {}

    public static void main(String[] args) throws Exception {
        Batches batches = new Batches(map(Path.of(args[1], "chunks")), Integer.parseInt(args[2]));
        if (args[0].equals("netty")) {
            netty(batches);
        } else {
            threads(batches);
        }
    }

    /** Makes batches; for one thread. */
    private static final class Batches {
        private final List<ByteBuffer> files;
        private final int sampleBytes;
        private final SplittableRandom random = new SplittableRandom(1);
        private final ByteBuffer small = ByteBuffer.allocateDirect(SMALL_BYTES);

        Batches(List<ByteBuffer> files, int sampleBytes) {
            this.files = files;
            this.sampleBytes = sampleBytes;
        }

        ByteBuffer[] next() {
            ByteBuffer[] parts = new ByteBuffer[1 + ROWS];
            parts[0] = small.duplicate();
            for (int i = 1; i < parts.length; i++) {
                ByteBuffer file = files.get(random.nextInt(files.size()));
                parts[i] = file.slice(random.nextInt(file.capacity() - sampleBytes), sampleBytes);
            }
            return parts;
        }
    }

    /** A thread of its own for the connection, and one gathering write for a batch. */
    private static void threads(Batches batches) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
            while (true) {
                try (java.nio.channels.SocketChannel socket = server.accept()) {
                    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    while (true) {
                        send(socket, batches.next());
                    }
                } catch (IOException e) {
                    System.err.println("the receiver has gone: " + e.getMessage());
                }
            }
        }
    }

    private static void send(java.nio.channels.SocketChannel socket, ByteBuffer[] parts) throws IOException {
        int from = 0;
        while (from < parts.length) {
            socket.write(parts, from, Math.min(MAX_PARTS, parts.length - from));
            while (from < parts.length && !parts[from].hasRemaining()) {
                from++;
            }
        }
    }

    /** One event loop; batches are queued while the channel is below its high-water mark of about two batches. */
    private static void netty(Batches batches) throws InterruptedException {
        int batchBytes = SMALL_BYTES + ROWS * batches.sampleBytes;
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory()))
                .channel(NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(
                        ChannelOption.WRITE_BUFFER_WATER_MARK, new WriteBufferWaterMark(batchBytes, 2 * batchBytes))
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new Pump(batches));
                    }
                });
        io.netty.channel.Channel server = bootstrap
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
        System.out.println(((InetSocketAddress) server.localAddress()).getPort());
        server.closeFuture().sync();
    }

    /** Keeps a channel's queue filled. */
    private static final class Pump extends ChannelInboundHandlerAdapter {
        private final Batches batches;

        Pump(Batches batches) {
            this.batches = batches;
        }

        @Override
        public void channelActive(ChannelHandlerContext context) {
            fill(context);
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext context) {
            fill(context);
        }

        private void fill(ChannelHandlerContext context) {
            if (!context.channel().isWritable()) {
                return;
            }
            for (ByteBuffer part : batches.next()) {
                context.write(Unpooled.wrappedBuffer(part), context.voidPromise());
            }
            context.flush();
            // Not a loop: the flush may have emptied the queue, and the loop has others to serve.
            context.executor().execute(() -> fill(context));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    private static List<ByteBuffer> map(Path folder) throws IOException {
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(folder)) {
            paths = walk.filter(path -> path.toString().endsWith(".arrow")).toList();
        }
        List<ByteBuffer> files = new ArrayList<>();
        for (Path path : paths) {
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
                files.add(file.map(FileChannel.MapMode.READ_ONLY, 0, file.size()));
            }
        }
        return files;
    }
}
