package dev.stoker.benchmarks;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/**
 * As many event loops as cores, which write composite buffers of the same parts; the next piece follows when one is
 * sent.
 */
final class TransportNetty implements AutoCloseable {
    private final EventLoopGroup loops;
    private final Channel server;

    /**
     * @param transport how the loops wait and write
     * @param pieces of the session with this number, or null for a session without data
     */
    TransportNetty(Transport transport, IntFunction<TransportPieces> pieces) throws InterruptedException {
        boolean isNative = transport == Transport.EPOLL;
        IoHandlerFactory io = isNative ? EpollIoHandler.newFactory() : NioIoHandler.newFactory();
        this.loops = new MultiThreadIoEventLoopGroup(Runtime.getRuntime().availableProcessors(), io);
        this.server = new ServerBootstrap()
                .group(loops)
                .channel(isNative ? EpollServerSocketChannel.class : NioServerSocketChannel.class)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new Session(pieces));
                    }
                })
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sync()
                .channel();
    }

    /** How the event loops wait and write. */
    enum Transport {
        NIO,
        EPOLL
    }

    int port() {
        return ((InetSocketAddress) server.localAddress()).getPort();
    }

    /** One trainer's connection; all on its event loop. */
    private static final class Session extends ChannelInboundHandlerAdapter {
        private final IntFunction<TransportPieces> numbered;
        private final ByteBuf in = Unpooled.buffer(64);
        private TransportPieces pieces;
        private boolean named;

        Session(IntFunction<TransportPieces> numbered) {
            this.numbered = numbered;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            ByteBuf bytes = (ByteBuf) message;
            in.writeBytes(bytes);
            bytes.release();
            while (in.readableBytes() >= 8) {
                long value = in.readLongLE();
                if (!named) {
                    named = true;
                    pieces = numbered.apply((int) value);
                    if (pieces != null) {
                        send(context);
                    }
                } else {
                    context.writeAndFlush(Unpooled.wrappedBuffer(TransportPieces.pong(value)), context.voidPromise());
                }
            }
            in.discardReadBytes();
        }

        private void send(ChannelHandlerContext context) {
            ByteBuffer[] parts = pieces.next();
            ChannelFuture written = context.writeAndFlush(Unpooled.wrappedBuffer(parts.length, parts));
            written.addListener(done -> {
                if (done.isSuccess()) {
                    // Not immediately: a session whose writes complete at once must not starve the other sessions of
                    // this loop.
                    context.executor().execute(() -> send(context));
                } else {
                    context.close();
                }
            });
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            context.close();
        }
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }
}
