package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NoSuchElementException;
import java.util.function.Predicate;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * Lists objects. On an object store, lists all keys below the deepest directory of the prefix, about 1,000 per request.
 * Any other file system is walked directory by directory. Skips files that are deleted meanwhile.
 */
final class HadoopObjectIterator implements ObjectIterator {

    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;
    private final String prefix;
    private final String after;
    private final Predicate<String> lastParts;
    private final boolean flat;
    private final Deque<String> directories = new ArrayDeque<>();
    private RemoteIterator<? extends FileStatus> entries;
    private ObjectInfo next;

    /** @param lastParts selects names by their last part */
    HadoopObjectIterator(
            HadoopObjectStore.Connection connection, String prefix, String after, Predicate<String> lastParts) {
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
            FileStatus entry = retries.call("list", paths.toString() + "/" + prefix, this::advance);
            if (entry != null) {
                visit(entry);
            }
        }
        return next != null;
    }

    /** Returns the next entry of the current directory, or null at its end. */
    private FileStatus advance() throws IOException {
        try {
            if (entries == null) {
                String directory = directories.peek();
                entries = flat
                        ? fileSystem.listFiles(paths.directory(directory), true)
                        : fileSystem.listStatusIterator(paths.directory(directory));
                directories.pop();
            }
            if (entries.hasNext()) {
                return entries.next();
            }
        } catch (FileNotFoundException e) {
            // No object has a name below this one.
            if (entries == null) {
                directories.pop();
            }
        }
        entries = null;
        return null;
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
        ObjectInfo found = next;
        next = null;
        return found;
    }
}
