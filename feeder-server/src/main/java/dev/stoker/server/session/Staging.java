package dev.stoker.server.session;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/**
 * Copies parts of a piece into memory of its own without touching them: they go through a pipe, so that the kernel
 * reads the mapped pages. Where a file was truncated or its disk fails, that is an error of the write, as it is on a
 * socket, and no signal that ends the process. One thread.
 */
final class Staging implements AutoCloseable {
    /** What a pipe holds by default. */
    static final int BYTES = 64 << 10;

    private final Pipe pipe;
    private final ByteBuffer bytes = ByteBuffer.allocate(BYTES);

    Staging() throws IOException {
        pipe = Pipe.open();
        // The kernel may give a smaller pipe; then less is taken at a time.
        pipe.sink().configureBlocking(false);
        pipe.source().configureBlocking(false);
    }

    /**
     * Takes as much as there is room for.
     *
     * @return the bytes taken, until the next call
     * @throws IOException if the first of them cannot be read
     */
    ByteBuffer take(ByteBuffer[] parts, int from, int count) throws IOException {
        long wanted = 0;
        int few = 0;
        while (few < count && wanted < BYTES) {
            wanted += parts[from + few].remaining();
            few++;
        }
        long taken = pipe.sink().write(parts, from, few);
        bytes.clear().limit(Math.toIntExact(taken));
        while (bytes.hasRemaining()) {
            if (pipe.source().read(bytes) <= 0) {
                throw new IOException("a pipe lost " + bytes.remaining() + " of " + taken + " bytes");
            }
        }
        return bytes.flip();
    }

    @Override
    public void close() throws IOException {
        try {
            pipe.sink().close();
        } finally {
            pipe.source().close();
        }
    }
}
