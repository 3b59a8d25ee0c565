package dev.stoker.feeder.node.tiers;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.UUID;

/** What a disk tier does with files; tests let it fail. Thread-safe. */
interface CacheFiles {
    /** Makes a file of these bytes appear at once, in the place of one that may be there. */
    void publish(Path file, ByteBuffer bytes) throws IOException;

    /** Fills the target from a place in a file on. */
    void read(Path file, long offset, ByteBuffer target) throws IOException;

    /** A file's length. */
    long length(Path file) throws IOException;

    /** Unlinks a file, if it is there. */
    void delete(Path file) throws IOException;

    /** Files of this machine. */
    final class Nio implements CacheFiles {
        /** How the names of files begin that have not appeared yet. */
        static final String TEMPORARY = ".tmp-";

        @Override
        public void publish(Path file, ByteBuffer bytes) throws IOException {
            if (!Files.isDirectory(file.getParent())) {
                createDirectory(file.getParent());
            }
            Path temporary = file.resolveSibling(TEMPORARY + UUID.randomUUID());
            try {
                try (FileChannel out =
                        FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                    while (bytes.hasRemaining()) {
                        out.write(bytes);
                    }
                }
                // Not forced to the disk: what a power loss leaves behind is checked before it is used.
                Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException | RuntimeException | Error e) {
                try {
                    Files.deleteIfExists(temporary);
                } catch (IOException cleanUp) {
                    e.addSuppressed(cleanUp);
                }
                throw e;
            }
        }

        /** Not what is above it: a space that has been removed does not come back by a file that was still being written. */
        private static void createDirectory(Path directory) throws IOException {
            try {
                Files.createDirectory(directory);
            } catch (FileAlreadyExistsException e) {
                // Somebody else was quicker.
            }
        }

        @Override
        public void read(Path file, long offset, ByteBuffer target) throws IOException {
            try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
                long at = offset;
                while (target.hasRemaining()) {
                    int read = in.read(target, at);
                    if (read < 0) {
                        throw new IOException(file + " ends at byte " + at);
                    }
                    at += read;
                }
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
    }
}
