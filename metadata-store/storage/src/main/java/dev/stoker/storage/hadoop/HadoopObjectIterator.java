package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.retry.Retries;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;
import org.jspecify.annotations.Nullable;

/**
 * Lists objects. On an object store, requests all keys below the deepest directory of the prefix, about 1,000 per
 * request. On any other file system, walks the directories. S3 and HDFS begin behind the given name. Omits files that
 * disappear during the listing.
 */
final class HadoopObjectIterator implements ObjectIterator {

    private final HadoopObjectStore.Connection connection;
    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;
    private final String prefix;
    private final String after;
    private final Predicate<String> lastParts;
    private final boolean flat;
    private final Deque<String> directories = new ArrayDeque<>();
    private @Nullable RemoteIterator<? extends FileStatus> entries;
    private @Nullable ObjectInfo next;

    /** @param lastParts selects names to list by their last parts */
    HadoopObjectIterator(
            HadoopObjectStore.Connection connection, String prefix, String after, Predicate<String> lastParts) {
        this.connection = connection;
        this.fileSystem = connection.fileSystem();
        this.paths = connection.paths();
        this.retries = connection.retries();
        this.flat = connection.isObjectStore();
        this.prefix = prefix;
        this.after = after;
        this.lastParts = lastParts;
        directories.push(ObjectPaths.directoryOf(prefix));
    }

    @Override
    public boolean hasNext() throws IOException {
        while (next == null && (entries != null || !directories.isEmpty())) {
            Optional<FileStatus> entry = retries.call("list", paths.toString() + "/" + prefix, this::advance);
            if (entry.isPresent()) {
                visit(entry.get());
            }
        }
        return next != null;
    }

    /** Returns the next entry of the current directory, or empty at its end. */
    private Optional<FileStatus> advance() throws IOException {
        try {
            if (entries == null) {
                entries = open(directories.peek());
                directories.pop();
            }
            if (entries.hasNext()) {
                return Optional.of(entries.next());
            }
        } catch (FileNotFoundException e) {
            // No object has a name below this one.
            if (entries == null) {
                directories.pop();
            }
        }
        entries = null;
        return Optional.empty();
    }

    private RemoteIterator<? extends FileStatus> open(String directory) throws IOException {
        Optional<ListingPages> pages = ListingPages.of(connection, directory, after);
        if (pages.isPresent()) {
            return pages.get();
        }
        return flat
                ? fileSystem.listFiles(paths.directory(directory), true)
                : fileSystem.listStatusIterator(paths.directory(directory));
    }

    private void visit(FileStatus entry) {
        String name = paths.name(entry.getPath());
        if (entry.isDirectory()) {
            String below = name + "/";
            boolean mayMatch = below.startsWith(prefix) || prefix.startsWith(below);
            boolean mayFollow = after.startsWith(below) || below.compareTo(after) > 0;
            if (mayMatch && mayFollow) {
                directories.push(below);
            }
        } else if (name.startsWith(prefix)
                && name.compareTo(after) > 0
                && lastParts.test(entry.getPath().getName())) {
            next = new ObjectInfo(name, entry.getLen(), entry.getModificationTime());
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
}
