package dev.stoker.feeder.node.tiers;

import dev.stoker.feeder.node.chunks.ChunkFile;
import dev.stoker.schemas.errors.CorruptDataException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;
import java.util.zip.CRC32C;

/** What a disk tier does with files; tests let it fail. Thread-safe. */
interface CacheFiles {
    /** A file that has not appeared yet. One thread; unless it is published, nothing of it is left when it is closed. */
    interface Unfinished extends Closeable {
        /** Writes at a place. */
        void write(long offset, ByteBuffer bytes) throws IOException;

        /** Fills the target from its beginning on. */
        void read(ByteBuffer target) throws IOException;

        /** Lets it appear at once, in the place of one that may be there. */
        void publish() throws IOException;
    }

    /** Begins a file. */
    Unfinished create(Path file) throws IOException;

    /** Makes a file of these bytes appear at once, in the place of one that may be there. */
    default void publish(Path file, ByteBuffer bytes) throws IOException {
        try (Unfinished made = create(file)) {
            made.write(0, bytes);
            made.publish();
        }
    }

    /** Fills the target from a place in a file on. */
    void read(Path file, long offset, ByteBuffer target) throws IOException;

    /** A file's length. */
    long length(Path file) throws IOException;

    /**
     * Compares a file with the chunk table.
     *
     * @throws CorruptDataException if it is another one
     */
    default void check(Path file, ChunkFile chunk) throws IOException {
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

    /** Unlinks a file, if it is there. */
    void delete(Path file) throws IOException;

    /** Files of this machine. */
    final class Nio implements CacheFiles {
        /** How the names of files begin that have not appeared yet. */
        static final String TEMPORARY = ".tmp-";

        private final CacheAccess access;

        /** @param access who may read the files */
        Nio(CacheAccess access) {
            this.access = access;
        }

        @Override
        public Unfinished create(Path file) throws IOException {
            // Not what is above it: a space that has been removed does not come back by a file that was still being
            // written.
            if (!Files.isDirectory(file.getParent())) {
                access.createDirectory(file.getParent());
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

        /** Beside its place, under a name of its own. */
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
                // Not forced to the disk: what a power loss leaves behind is checked before it is used.
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
