package dev.stoker.server.session.accept;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ByteChannel;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.SocketChannel;

/**
 * The bytes of one connection as the protocol sees them, in plain text or under TLS. One thread reads and one writes;
 * any thread may close it. Its methods block only if the socket is in blocking mode.
 */
public interface Wire extends ByteChannel, GatheringByteChannel {

    /** Ends the output; the input stays open. Called by the thread that writes. */
    void shutdownOutput() throws IOException;

    /**
     * Notes that the peer sent HELLO and was admitted, so that limits for unknown peers no longer apply. Called by the
     * thread that reads.
     */
    default void admitted() {}

    /**
     * Returns whether so much was sent under the keys of this connection that the session must continue over a new
     * one. Called by the thread that writes.
     */
    default boolean isSpent() {
        return false;
    }

    /** Returns the underlying socket, for options and addresses. */
    SocketChannel socket();

    /** Returns whether the connection uses a Unix-domain socket, which does not leave this machine. */
    default boolean isUnix() throws IOException {
        return !(socket().getLocalAddress() instanceof InetSocketAddress);
    }

    /** Enables keep-alive, so that the system detects that the peer's machine is gone. */
    default void keepAlive() throws IOException {
        if (!isUnix()) {
            KeepAlive.set(socket());
        }
    }

    /** Returns the peer's address, for logs. */
    default String peer() throws IOException {
        return String.valueOf(socket().getRemoteAddress());
    }
}
