package dev.stoker.server.tiers.files;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ListedChunk;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.UUID;
import java.util.zip.CRC32C;

/** The file operations of a disk tier, which tests can make fail. Thread-safe. */
public interface CacheFiles {
    /**
     * A file that is not visible yet. For one thread. If it is closed without being published, nothing of it is left.
     */
    interface Unfinished extends Closeable {
        /** Writes bytes at an offset. */
        void write(long offset, ByteBuffer bytes) throws IOException;

        /** Fills the target with bytes from the start of the file. */
        void read(ByteBuffer target) throws IOException;

        /** Makes the file visible atomically, and replaces an existing one. */
        void publish() throws IOException;
    }

    /** Begins a file. */
    Unfinished create(Path file) throws IOException;

    /** Makes a file with these bytes visible atomically, and replaces an existing one. */
    default void publish(Path file, ByteBuffer bytes) throws IOException {
        try (Unfinished made = create(file)) {
            made.write(0, bytes);
            made.publish();
        }
    }

    /** Fills the target with bytes of a file, starting at an offset. */
    void read(Path file, long offset, ByteBuffer target) throws IOException;

    /** Returns a file's length. */
    long length(Path file) throws IOException;

    /**
     * Compares a file with the chunk table.
     *
     * @throws CorruptDataException if it is a different file
     */
    default void check(Path file, ListedChunk chunk) throws IOException {
        long length = length(file);
        if (length != chunk.length()) {
            throw CorruptDataException.mismatch(file.toString(), "length in bytes", chunk.length(), length);
        }
        CRC32C crc = new CRC32C();
        ByteBuffer part = ByteBuffer.allocate((int) Math.min(1 << 20, length));
        for (long at = 0; at < length; at += part.limit()) {
            part.clear().limit((int) Math.min(part.capacity(), length - at));
            read(file, at, part);
            crc.update(part.flip());
        }
        int found = (int) crc.getValue();
        if (found != chunk.crc32c()) {
            throw CorruptDataException.mismatch(
                    file.toString(), "CRC32C", Integer.toHexString(chunk.crc32c()), Integer.toHexString(found));
        }
    }

    /** Deletes a file, if it exists. */
    void delete(Path file) throws IOException;

    /** Files of this machine. */
    final class Nio implements CacheFiles {
        /** Prefix of the names of files that are not published yet. */
        static final String TEMPORARY = ".tmp-";

        private final CacheAccess access;

        /** @param access who may read the files */
        public Nio(CacheAccess access) {
            this.access = access;
        }

        @Override
        public Unfinished create(Path file) throws IOException {
            // Its parent is not created: a directory that was removed must not return because a file was still being
            // written.
            Path directory = Objects.requireNonNull(file.getParent(), "a chunk's file lies in a directory");
            if (!Files.isDirectory(directory)) {
                access.createDirectory(directory);
            }
            return new Temporary(file, access);
        }

        @Override
        public void read(Path file, long offset, ByteBuffer target) throws IOException {
            try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
                fill(file, in, offset, target);
            }
        }

        private static void fill(Path file, FileChannel in, long offset, ByteBuffer target) throws IOException {
            long at = offset;
            while (target.hasRemaining()) {
                int read = in.read(target, at);
                if (read < 0) {
                    throw new IOException(file + " ends at byte " + at);
                }
                at += read;
            }
        }

        @Override
        public long length(Path file) throws IOException {
            return Files.size(file);
        }

        @Override
        public void delete(Path file) throws IOException {
            Files.deleteIfExists(file);
        }

        /** A file with a temporary name in the directory of its final path. */
        private static final class Temporary implements Unfinished {
            private final Path file;
            private final Path temporary;
            private final FileChannel channel;
            private boolean published;

            Temporary(Path file, CacheAccess access) throws IOException {
                this.file = file;
                this.temporary = file.resolveSibling(TEMPORARY + UUID.randomUUID());
                this.channel = access.createFile(temporary);
            }

            @Override
            public void write(long offset, ByteBuffer bytes) throws IOException {
                for (long at = offset; bytes.hasRemaining(); ) {
                    at += channel.write(bytes, at);
                }
            }

            @Override
            public void read(ByteBuffer target) throws IOException {
                fill(temporary, channel, 0, target);
            }

            @Override
            public void publish() throws IOException {
                // Not forced to the disk: files that survive a power loss are checked before they are used.
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
                published = true;
            }

            @Override
            public void close() throws IOException {
                try {
                    channel.close();
                } finally {
                    if (!published) {
                        Files.deleteIfExists(temporary);
                    }
                }
            }
        }
    }
}
