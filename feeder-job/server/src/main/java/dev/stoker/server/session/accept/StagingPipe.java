package dev.stoker.server.session.accept;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;

/** A pipe and a buffer: two copies for each byte, and pages that are allocated for each copy. Works everywhere. */
final class StagingPipe implements Staging.Medium {
    private final Pipe pipe;
    private final ByteBuffer buffer = ByteBuffer.allocate(Staging.BYTES);

    StagingPipe() throws IOException {
        pipe = Pipe.open();
        // A pipe usually has room for 64 KiB; then less is taken at a time.
        pipe.sink().configureBlocking(false);
        pipe.source().configureBlocking(false);
    }

    @Override
    public ByteBuffer copy(ByteBuffer[] parts, int from, int count) throws IOException {
        long taken = pipe.sink().write(parts, from, count);
        buffer.clear().limit(Math.toIntExact(taken));
        while (buffer.hasRemaining()) {
            if (pipe.source().read(buffer) <= 0) {
                throw new IOException("a pipe lost " + buffer.remaining() + " of " + taken + " bytes");
            }
        }
        return buffer.flip();
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
