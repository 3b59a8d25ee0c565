package dev.stoker.client.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** A socket without TLS. */
public record PlainWire(SocketChannel socket) implements Wire {
    @Override
    public int secure() {
        return 0;
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
        return socket.read(to);
    }

    @Override
    public void write(ByteBuffer from) throws IOException {
        socket.write(from);
    }

    @Override
    public boolean flush() {
        return true;
    }

    @Override
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }
}
