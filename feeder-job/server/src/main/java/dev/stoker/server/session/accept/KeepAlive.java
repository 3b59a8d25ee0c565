package dev.stoker.server.session.accept;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import jdk.net.ExtendedSocketOptions;

/** TCP's own question whether the peer lives. The peer's kernel answers it, whatever the process does. */
final class KeepAlive {
    private static final int IDLE_S = 4;
    private static final int INTERVAL_S = 2;
    private static final int COUNT = 3;

    private KeepAlive() {}

    /** Has a connection end ten seconds after the peer's machine has gone, where the platform can do so. */
    static void set(SocketChannel socket) throws IOException {
        socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        set(socket, ExtendedSocketOptions.TCP_KEEPIDLE, IDLE_S);
        set(socket, ExtendedSocketOptions.TCP_KEEPINTERVAL, INTERVAL_S);
        set(socket, ExtendedSocketOptions.TCP_KEEPCOUNT, COUNT);
    }

    private static void set(SocketChannel socket, SocketOption<Integer> option, int value) throws IOException {
        if (socket.supportedOptions().contains(option)) {
            socket.setOption(option, value);
        }
    }
}
