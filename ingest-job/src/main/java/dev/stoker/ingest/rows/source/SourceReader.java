package dev.stoker.ingest.rows.source;

import dev.stoker.schemas.io.RangeReader;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reads one file of a source, on this machine or another file system. Thread-safe. */
public final class SourceReader implements RangeReader, Closeable {
    /**
     * Java reads a local file through a buffer outside the heap. A buffer of this size stays in the processor's cache.
     */
    private static final int LOCAL_READ_BYTES = 256 << 10;

    private final SourceFile file;
    private final @Nullable FileChannel channel;
    private final @Nullable SourceTree tree;

    private SourceReader(SourceFile file, @Nullable FileChannel channel, @Nullable SourceTree tree) {
        this.file = file;
        this.channel = channel;
        this.tree = tree;
    }

    /**
     * Opens a file.
     *
     * @throws IOException if it cannot be opened, or if its length has changed since it was listed
     */
    public static SourceReader open(SourceFile file) throws IOException {
        if (file.isRemote()) {
            return new SourceReader(file, null, Stores.openTree(file.root()));
        }
        FileChannel channel = FileChannel.open(Path.of(file.location()), StandardOpenOption.READ);
        if (channel.size() != file.length()) {
            long found = channel.size();
            channel.close();
            throw new IOException("the file " + file.location() + " has changed during the ingest: it had "
                    + file.length() + " bytes, and has " + found + "; run the ingest again when nothing writes to it");
        }
        return new SourceReader(file, channel, null);
    }

    @Override
    public void readFully(long offset, ByteBuffer dst) throws IOException {
        long at = offset;
        while (dst.hasRemaining()) {
            int read = read(at, dst);
            if (read <= 0) {
                throw new EOFException(
                        file.location() + " ends at byte " + at + ", " + dst.remaining() + " bytes too early");
            }
            at += read;
        }
    }

    private int read(long at, ByteBuffer dst) throws IOException {
        if (channel != null) {
            int limit = dst.limit();
            dst.limit(Math.min(limit, dst.position() + LOCAL_READ_BYTES));
            try {
                return channel.read(dst, at);
            } finally {
                dst.limit(limit);
            }
        }
        return Objects.requireNonNull(tree, "a file that is not local is in a tree")
                .read(file.path(), at, dst);
    }

    @Override
    public long length() {
        return file.length();
    }

    @Override
    public String name() {
        return file.location();
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
        if (tree != null) {
            tree.close();
        }
    }
}
