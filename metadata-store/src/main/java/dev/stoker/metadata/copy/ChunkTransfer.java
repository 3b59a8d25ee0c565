package dev.stoker.metadata.copy;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.PartSink;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** Writes the parts of one object to the target while they are read, and computes their checksum. Not thread-safe. */
final class ChunkTransfer implements PartSink, Closeable {

    private final ObjectStore target;
    private final String name;
    private final CRC32C crc = new CRC32C();
    private @Nullable ObjectWriter writer;

    ChunkTransfer(ObjectStore target, String name) {
        this.target = target;
        this.name = name;
    }

    @Override
    public void put(long offset, ByteBuffer part) {
        try {
            if (offset == 0) {
                // The first part, perhaps again: the store repeats a read that broke off.
                close();
                crc.reset();
                writer = target.write(name);
            }
            if (writer == null) {
                throw new IllegalStateException("The first part of " + name + " begins at byte " + offset);
            }
            crc.update(part.duplicate());
            writer.write(part);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int crc32c() {
        return (int) crc.getValue();
    }

    /** Makes the object visible. Another copy to the same target may have written it in the meantime. */
    void commit(long length) throws IOException {
        if (writer == null) {
            throw new IllegalStateException(name + " is empty");
        }
        try {
            writer.commit();
        } catch (IOException e) {
            try {
                if (target.length(name) == length) {
                    return;
                }
            } catch (NoSuchObjectException absent) {
                e.addSuppressed(absent);
            }
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        if (writer != null) {
            writer.close();
            writer = null;
        }
    }
}
