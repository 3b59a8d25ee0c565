package dev.stoker.feeder.node.server;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ByteChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.SocketChannel;

/**
 * The bytes of one connection as the protocol sees them, in plain text or under TLS. One thread reads, one writes; any may
 * close. As long as its socket does not block, neither does it.
 */
interface Wire extends ByteChannel, GatheringByteChannel {

    /** Ends the output; the input goes on. Called by the thread that writes. */
    void shutdownOutput() throws IOException;

    /** The peer said HELLO and was admitted; limits on what strangers may send no longer apply. Called by the thread that reads. */
    default void admitted() {}

    /** What lies below, for options and addresses. */
    SocketChannel socket();

    /** Whether the connection came by a Unix-domain socket, which does not leave this machine. */
    default boolean isUnix() throws IOException {
        return !(socket().getLocalAddress() instanceof InetSocketAddress);
    }

    /** Has the system notice that the peer's machine is gone. */
    default void keepAlive() throws IOException {
        if (!isUnix()) {
            KeepAlive.set(socket());
        }
    }

    /** The peer's address, for logs. */
    default String peer() throws IOException {
        return String.valueOf(socket().getRemoteAddress());
    }
}
