package dev.stoker.ingest.pack.read;

import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;

/** A file that is read from its start to its end. For one thread. */
abstract class ReadOnlyChannel implements SeekableByteChannel {

    @Override
    public final int write(ByteBuffer source) {
        throw new UnsupportedOperationException("a sample cannot be written");
    }

    @Override
    public final SeekableByteChannel position(long position) {
        throw new UnsupportedOperationException("a sample is read sequentially");
    }

    @Override
    public final SeekableByteChannel truncate(long size) {
        throw new UnsupportedOperationException("a sample cannot be written");
    }

    @Override
    public final boolean isOpen() {
        return true;
    }

    @Override
    public final void close() {}
}
