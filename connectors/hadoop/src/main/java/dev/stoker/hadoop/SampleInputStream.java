package dev.stoker.hadoop;

import dev.stoker.metadata.index.SampleStat;
import java.io.EOFException;
import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.fs.CanUnbuffer;
import org.apache.hadoop.fs.FSExceptionMessages;
import org.apache.hadoop.fs.FSInputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StreamCapabilities;
import org.jspecify.annotations.Nullable;

/**
 * Reads one sample. The first read reads and verifies it. Positioned reads may come from several threads; the others
 * from one.
 */
final class SampleInputStream extends FSInputStream implements CanUnbuffer, StreamCapabilities {

    private final SampleTree tree;
    private final SampleStat sample;
    private final long length;
    private final FileSystem.@Nullable Statistics statistics;

    private long position;

    /** Guarded by this object, as {@link #isClosed}. Null until the first read. */
    private @Nullable SampleContent content;

    private boolean isClosed;

    SampleInputStream(SampleTree tree, SampleStat sample, long length, FileSystem.@Nullable Statistics statistics) {
        this.tree = tree;
        this.sample = sample;
        this.length = length;
        this.statistics = statistics;
    }

    private synchronized void requireOpen() throws IOException {
        if (isClosed) {
            throw new IOException(FSExceptionMessages.STREAM_IS_CLOSED + " (sample '" + sample.key() + "')");
        }
    }

    private synchronized SampleContent content() throws IOException {
        requireOpen();
        SampleContent read = content;
        if (read == null) {
            read = tree.read(sample);
            content = read;
        }
        return read;
    }

    @Override
    public void seek(long target) throws IOException {
        requireOpen();
        if (target < 0) {
            throw new EOFException(FSExceptionMessages.NEGATIVE_SEEK + " " + target);
        }
        if (target > length) {
            throw new EOFException(FSExceptionMessages.CANNOT_SEEK_PAST_EOF + " " + target + " of " + length
                    + " bytes of sample '" + sample.key() + "'");
        }
        position = target;
    }

    @Override
    public long getPos() {
        return position;
    }

    @Override
    public boolean seekToNewSource(long target) {
        return false;
    }

    @Override
    public int available() throws IOException {
        requireOpen();
        return (int) Math.min(Integer.MAX_VALUE, length - position);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] buffer, int offset, int count) throws IOException {
        int read = read(position, buffer, offset, count);
        position += Math.max(0, read);
        return read;
    }

    @Override
    public int read(long from, byte[] buffer, int offset, int count) throws IOException {
        requireOpen();
        validatePositionedReadArgs(from, buffer, offset, count);
        if (count == 0) {
            return 0;
        }
        if (from >= length) {
            return -1;
        }
        int read = content().read(from, buffer, offset, count);
        if (statistics != null) {
            statistics.incrementBytesRead(read);
        }
        return read;
    }

    @Override
    public long skip(long count) throws IOException {
        requireOpen();
        long skipped = Math.max(0, Math.min(count, length - position));
        position += skipped;
        return skipped;
    }

    /** Releases the memory of the sample. The next read reads it again. */
    @Override
    public synchronized void unbuffer() {
        content = null;
    }

    @Override
    public boolean hasCapability(String capability) {
        return capability.toLowerCase(Locale.ROOT).equals(StreamCapabilities.UNBUFFER);
    }

    @Override
    public synchronized void close() {
        isClosed = true;
        content = null;
    }
}
