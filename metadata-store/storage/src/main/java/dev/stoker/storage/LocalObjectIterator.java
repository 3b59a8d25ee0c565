package dev.stoker.storage;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Walks a directory tree with one open directory for each level. Omits files that disappear during the walk. */
final class LocalObjectIterator implements ObjectIterator {

    /** Deeper than any dataset; prevents an endless walk through a loop of links. */
    private static final int MAX_DEPTH = 32;

    private record Level(String name, DirectoryStream<Path> stream, Iterator<Path> entries) {}

    private final String prefix;
    private final String after;
    private final Predicate<String> fileNames;
    private final Deque<Level> levels = new ArrayDeque<>();
    private @Nullable ObjectInfo next;

    LocalObjectIterator(Path root, String prefix, String after, Predicate<String> fileNames) throws IOException {
        this.prefix = prefix;
        this.after = after;
        this.fileNames = fileNames;
        int slash = prefix.lastIndexOf('/');
        if (slash < 0) {
            enter(root, "");
        } else {
            String directory = ObjectNames.check(prefix.substring(0, slash));
            enter(root.resolve(directory), directory + "/");
        }
    }

    @SuppressWarnings("StreamResourceLeak") // Closed with its level.
    private void enter(Path directory, String name) throws IOException {
        if (levels.size() == MAX_DEPTH) {
            throw new IOException("More than " + MAX_DEPTH + " levels of directories at " + directory);
        }
        try {
            DirectoryStream<Path> stream = Files.newDirectoryStream(directory);
            levels.push(new Level(name, stream, stream.iterator()));
        } catch (NoSuchFileException | NotDirectoryException e) {
            // No object has a name below this one.
        }
    }

    @Override
    public boolean hasNext() throws IOException {
        while (next == null && !levels.isEmpty()) {
            Level level = levels.peek();
            try {
                if (level.entries.hasNext()) {
                    visit(level, level.entries.next());
                } else {
                    levels.pop().stream.close();
                }
            } catch (DirectoryIteratorException e) {
                throw e.getCause();
            }
        }
        return next != null;
    }

    private void visit(Level level, Path entry) throws IOException {
        String fileName = entry.getFileName().toString();
        String name = level.name + fileName;
        String below = name + "/";
        boolean mayBeFile = name.startsWith(prefix) && name.compareTo(after) > 0 && fileNames.test(fileName);
        boolean mayBeDirectory = (below.startsWith(prefix) || prefix.startsWith(below))
                && (after.startsWith(below) || below.compareTo(after) > 0);
        if (!mayBeFile && !mayBeDirectory) {
            return;
        }
        BasicFileAttributes attributes;
        try {
            attributes = Files.readAttributes(entry, BasicFileAttributes.class);
        } catch (NoSuchFileException e) {
            return;
        }
        if (attributes.isDirectory()) {
            if (mayBeDirectory) {
                enter(entry, below);
            }
        } else if (mayBeFile) {
            next = new ObjectInfo(
                    name, attributes.size(), attributes.lastModifiedTime().toMillis());
        }
    }

    @Override
    public ObjectInfo next() throws IOException {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        ObjectInfo found = Objects.requireNonNull(next, "hasNext() sets it");
        next = null;
        return found;
    }

    @Override
    public void close() throws IOException {
        while (!levels.isEmpty()) {
            levels.pop().stream.close();
        }
    }
}
