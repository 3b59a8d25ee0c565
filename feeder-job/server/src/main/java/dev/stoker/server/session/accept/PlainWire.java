package dev.stoker.server.session.accept;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** The socket as it is. */
public record PlainWire(SocketChannel socket) implements Wire {
    @Override
    public int read(ByteBuffer to) throws IOException {
        return socket.read(to);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        return socket.write(from);
    }

    @Override
    public long write(ByteBuffer[] parts) throws IOException {
        return socket.write(parts);
    }

    @Override
    public long write(ByteBuffer[] parts, int from, int count) throws IOException {
        return socket.write(parts, from, count);
    }

    @Override
    public void shutdownOutput() throws IOException {
        socket.shutdownOutput();
    }

    @Override
    public boolean isOpen() {
        return socket.isOpen();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
