package dev.stoker.ingest.rows.content;

import dev.stoker.formats.BadValueException;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import dev.stoker.storage.errors.StoreAccessException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads whole files below a directory. Paths that leave the directory are refused. For one thread. */
public final class ContentTree implements Closeable {
    private static final long MIB = 1 << 20;
    /** Bytes of the largest array. */
    private static final long MAX_BYTES = Integer.MAX_VALUE - 8;

    private final String root;
    private final long limitBytes;
    private final @Nullable SourceTree tree;
    private ByteBuffer content = ByteBuffer.allocate(0);

    /**
     * Opens a directory.
     *
     * @param root an absolute path or a URI
     * @param limitBytes greatest length of a file
     */
    public ContentTree(String root, long limitBytes) throws IOException {
        this.root = root;
        this.limitBytes = Math.min(limitBytes, MAX_BYTES);
        this.tree = Stores.isRemote(root) ? Stores.openTree(root) : null;
    }

    /**
     * Returns the content of a file, valid until the next call.
     *
     * @param path relative to the directory, or absolute and below it
     * @throws BadValueException if there is no such file, or it cannot be read
     */
    public ByteBuffer read(String path) throws BadValueException, IOException {
        String below = below(path);
        try {
            return tree == null ? local(below) : remote(tree, below);
        } catch (NoSuchFileException e) {
            throw new BadValueException("there is no file " + shown(below));
        } catch (AccessDeniedException | StoreAccessException e) {
            throw new BadValueException("no permission to read the file " + shown(below));
        }
    }

    /** Returns the length of a file, or nothing if there is no such file. */
    public Optional<Long> length(String path) throws IOException {
        try {
            String below = below(path);
            if (tree != null) {
                return tree.find(below).map(SourceTree.Entry::length);
            }
            Path file = Path.of(root, below);
            return Files.isRegularFile(file) ? Optional.of(Files.size(file)) : Optional.empty();
        } catch (BadValueException e) {
            return Optional.empty();
        }
    }

    private ByteBuffer local(String path) throws BadValueException, IOException {
        Path file = Path.of(root, path);
        if (!Files.isRegularFile(file)) {
            if (Files.exists(file)) {
                throw new BadValueException(shown(path) + " is not a file");
            }
            throw new NoSuchFileException(shown(path));
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            ByteBuffer target = space(path, channel.size());
            while (target.hasRemaining()) {
                if (channel.read(target) < 0) {
                    throw new BadValueException(shown(path) + " has become shorter during the ingest");
                }
            }
            return target.flip();
        }
    }

    private ByteBuffer remote(SourceTree files, String path) throws BadValueException, IOException {
        SourceTree.Entry entry = files.find(path).orElseThrow(() -> new NoSuchFileException(shown(path)));
        if (entry.kind() != SourceTree.Kind.FILE) {
            throw new BadValueException(shown(path) + " is not a file");
        }
        ByteBuffer target = space(path, entry.length());
        while (target.hasRemaining()) {
            if (files.read(path, target.position(), target) <= 0) {
                throw new BadValueException(shown(path) + " has become shorter during the ingest");
            }
        }
        return target.flip();
    }

    private ByteBuffer space(String path, long length) throws BadValueException {
        if (length > limitBytes) {
            String problem = "the file " + shown(path) + " has " + Units.bytes(length) + ", more than the limit of "
                    + Units.bytes(limitBytes);
            throw length > MAX_BYTES
                    ? new BadValueException(problem)
                    : new BadValueException(
                            problem, "raise the limit with --part-memory " + ((length - 1) / MIB + 1) + "mb");
        }
        if (content.capacity() < length) {
            content = ByteBuffer.allocate((int) Math.min(limitBytes, length + length / 4));
        }
        return content.clear().limit((int) length);
    }

    /** Returns the path below the directory, without {@code .} and {@code ..}. */
    private String below(String path) throws BadValueException {
        String prefix = root.endsWith("/") ? root : root + "/";
        boolean isAbsolute = path.startsWith("/") || Stores.isRemote(path);
        if (isAbsolute && !path.startsWith(prefix)) {
            throw leaves(path, "name the directory that has all files with --read-root DIRECTORY");
        }
        Deque<String> parts = new ArrayDeque<>();
        for (String part : path.substring(isAbsolute ? prefix.length() : 0).split("/", -1)) {
            if (part.equals("..")) {
                if (parts.pollLast() == null) {
                    throw leaves(
                            path,
                            "write the paths from one directory that has all files, and name it with --read-root"
                                    + " DIRECTORY");
                }
            } else if (!part.isEmpty() && !part.equals(".")) {
                parts.add(part);
            }
        }
        if (parts.isEmpty()) {
            throw new BadValueException("\"" + path + "\" is not the path of a file");
        }
        return String.join("/", parts);
    }

    private BadValueException leaves(String path, String step) {
        return new BadValueException("the path " + path + " is not below " + root, step);
    }

    private String shown(String below) {
        return root.endsWith("/") ? root + below : root + "/" + below;
    }

    @Override
    public void close() throws IOException {
        if (tree != null) {
            tree.close();
        }
    }
}
