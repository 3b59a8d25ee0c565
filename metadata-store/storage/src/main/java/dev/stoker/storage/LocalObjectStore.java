package dev.stoker.storage;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.Optional;

/**
 * Stores objects as plain files below a directory of a POSIX file system.
 *
 * <p>The store writes an object to a temporary file in the same directory (its name starts with {@value
 * #TEMPORARY_PREFIX}) and forces it to disk. The file then gets its name by {@code link(2)}, which is atomic and fails
 * if the name exists. Exclusive creation would show an empty file first, and {@code rename(2)} would replace an
 * existing one. Only {@link #replace} renames. Finally, the store forces the directory. The file system must therefore
 * support hard links.
 * Thread-safe.
 */
public final class LocalObjectStore implements ObjectStore {

    /** Prefix of the names of temporary files. The last part of an object's name never has this prefix. */
    static final String TEMPORARY_PREFIX = ".tmp-";

    private static final int PART_BYTES = 256 << 10;

    private final Path root;
    private final LocalFiles files;
    private final LocalDirectories directories;

    /** @param root the directory; it and its parents are created with the first object */
    public LocalObjectStore(Path root) {
        this(root, new NioFiles());
    }

    LocalObjectStore(Path root, LocalFiles files) {
        this.root = Objects.requireNonNull(root, "root").toAbsolutePath().normalize();
        this.files = files;
        this.directories = new LocalDirectories(files);
    }

    @Override
    public String describe(String name) {
        return path(name).toString();
    }

    @Override
    public long length(String name) throws IOException {
        try {
            return Files.size(path(name));
        } catch (NoSuchFileException e) {
            throw absent(name, e);
        }
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        try (FileChannel channel = open(name, offset)) {
            fill(name, channel, offset, target, offset + target.remaining());
        }
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        try (FileChannel channel = open(name, offset)) {
            ByteBuffer part = ByteBuffer.allocate(Math.min(length, PART_BYTES));
            for (long at = offset, end = offset + length; at < end; at += part.limit()) {
                part.clear().limit((int) Math.min(part.capacity(), end - at));
                fill(name, channel, at, part, end);
                sink.put(at, part.flip());
            }
        }
    }

    private FileChannel open(String name, long offset) throws IOException {
        if (offset < 0) {
            throw new IllegalArgumentException("Negative offset " + offset);
        }
        Path file = path(name);
        try {
            // Opening a FIFO would block.
            if (!Files.isRegularFile(file) && Files.exists(file)) {
                throw new IOException(describe(name) + " is not a regular file; Stoker did not create it");
            }
            return FileChannel.open(file, StandardOpenOption.READ);
        } catch (NoSuchFileException e) {
            throw absent(name, e);
        }
    }

    /** @param end end of the bytes that are needed in total */
    private void fill(String name, FileChannel channel, long offset, ByteBuffer target, long end) throws IOException {
        long position = offset;
        while (target.hasRemaining()) {
            int read = channel.read(target, position);
            if (read < 0) {
                throw new CorruptDataException(
                        describe(name) + " ends at byte " + channel.size() + ", but bytes up to " + end
                                + " are needed; the file was truncated: restore it from a copy, and run `stoker"
                                + " verify` on the dataset");
            }
            position += read;
        }
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        long length = length(name);
        if (length > Math.min(limitBytes, Integer.MAX_VALUE - 8)) {
            throw new CorruptDataException(
                    describe(name) + " has " + length + " bytes; expected at most " + limitBytes);
        }
        byte[] content = new byte[(int) length];
        read(name, 0, ByteBuffer.wrap(content));
        return content;
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        Path target = newObject(name);
        if (Files.exists(target)) {
            return false;
        }
        try (LocalObjectWriter writer = open(name, target)) {
            writer.write(ByteBuffer.wrap(content));
            return writer.publish();
        }
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        Path target = newObject(name);
        length(name);
        try (LocalObjectWriter writer = open(name, target)) {
            writer.write(ByteBuffer.wrap(content));
            writer.replace();
        }
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        return open(name, newObject(name));
    }

    private LocalObjectWriter open(String name, Path target) throws IOException {
        Path temporary = LocalObjectWriter.temporaryBeside(target);
        for (int attempt = 0; ; attempt++) {
            try {
                directories.ensure(parent(target));
                return new LocalObjectWriter(files, files.createNew(temporary), temporary, target);
            } catch (NoSuchFileException e) {
                // Another process removed the directory after it was found.
                directories.forget();
                if (attempt > 0) {
                    throw e;
                }
            } catch (FileAlreadyExistsException e) {
                throw new IOException(
                        "Cannot write " + describe(name) + ": " + e.getFile() + " exists and is not a directory", e);
            } catch (IOException e) {
                throw LocalErrors.explain(target, e);
            }
        }
    }

    @Override
    public ObjectIterator list(String prefix, String after) throws IOException {
        return new LocalObjectIterator(root, prefix, after, file -> !file.startsWith(TEMPORARY_PREFIX));
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        return new LocalObjectIterator(root, prefix, "", file -> file.startsWith(TEMPORARY_PREFIX));
    }

    @Override
    public boolean delete(String name) throws IOException {
        Path path = path(name);
        try {
            files.delete(path);
        } catch (NoSuchFileException e) {
            return false;
        }
        files.forceDirectory(parent(path));
        return true;
    }

    @Override
    public Optional<Path> localPath(String name) {
        return Optional.of(path(name));
    }

    @Override
    public void close() {}

    @Override
    public String toString() {
        return root.toString();
    }

    private static Path parent(Path object) {
        return Objects.requireNonNull(object.getParent(), "an object is in a directory");
    }

    private Path path(String name) {
        return root.resolve(ObjectNames.check(name));
    }

    private Path newObject(String name) {
        Path path = path(name);
        if (path.getFileName().toString().startsWith(TEMPORARY_PREFIX)) {
            throw new IllegalArgumentException(
                    "An object's name must not start with " + TEMPORARY_PREFIX + ": " + name);
        }
        return path;
    }

    private NoSuchObjectException absent(String name, NoSuchFileException cause) {
        NoSuchObjectException absent = new NoSuchObjectException(describe(name));
        absent.initCause(cause);
        return absent;
    }
}
