package dev.stoker.storage.hadoop;

import dev.stoker.storage.SourceTree;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.CallScope;
import dev.stoker.storage.retry.Retries;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Optional;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/**
 * Lists and reads a tree of files on a Hadoop file system. Retries calls that fail for a transient reason; see {@link
 * Retries}.
 */
public final class HadoopSourceTree implements SourceTree {

    private final HadoopObjectStore store;
    private final FileSystem fileSystem;
    private final ObjectPaths paths;
    private final Retries retries;
    private final ObjectReader reader;
    private final boolean isObjectStore;

    private HadoopSourceTree(HadoopObjectStore store) {
        this.store = store;
        HadoopObjectStore.Connection connection = store.connection();
        this.fileSystem = connection.fileSystem();
        this.paths = connection.paths();
        this.retries = connection.retries();
        this.isObjectStore = connection.isObjectStore();
        this.reader = ObjectReader.of(connection);
    }

    /**
     * Opens the tree at a URI. Sends no request to the file system.
     *
     * @throws dev.stoker.storage.errors.UnsupportedStoreException if Hadoop does not know the scheme
     */
    public static HadoopSourceTree open(String location) throws IOException {
        return new HadoopSourceTree(HadoopObjectStore.open(location));
    }

    @Override
    public String location() {
        return paths.toString();
    }

    private Path path(String path) {
        return path.isEmpty() ? paths.root() : paths.path(path);
    }

    private String describe(String path) {
        return path.isEmpty() ? location() : location() + "/" + path;
    }

    @Override
    public void list(String directory, Visitor visitor) throws IOException {
        String where = describe(directory);
        Path path = path(directory);
        try {
            RemoteIterator<? extends FileStatus> entries = retries.call("list", where, () -> entries(directory, path));
            while (retries.call("list", where, entries::hasNext)) {
                FileStatus entry = retries.call("list", where, entries::next);
                if (!entry.isDirectory()
                        && entry.getPath().toUri().getPath().equals(path.toUri().getPath())) {
                    // The listing of a file contains the file itself.
                    throw new NotDirectoryException(where);
                }
                visitor.entry(entry(entry));
            }
        } catch (NoSuchObjectException e) {
            throw absent(where, e);
        }
    }

    private RemoteIterator<? extends FileStatus> entries(String directory, Path path) throws IOException {
        Optional<ListingPages> pages =
                ListingPages.ofEntries(store.connection(), directory.isEmpty() ? "" : directory + "/");
        // Hadoop's listing distinguishes an empty directory from a file and from nothing.
        return pages.isPresent() && pages.get().hasNext() ? pages.get() : fileSystem.listStatusIterator(path);
    }

    private Entry entry(FileStatus status) throws IOException {
        String name = status.getPath().getName();
        if (!status.isSymlink()) {
            return entry(name, status);
        }
        try {
            return entry(
                    name,
                    retries.call(
                            "find", status.getPath().toString(), () -> fileSystem.getFileStatus(status.getPath())));
        } catch (NoSuchObjectException e) {
            return new Entry(name, Kind.BROKEN_LINK, 0, 0);
        }
    }

    private static Entry entry(String name, FileStatus status) {
        return status.isDirectory()
                ? new Entry(name, Kind.DIRECTORY, 0, status.getModificationTime())
                : new Entry(name, Kind.FILE, status.getLen(), status.getModificationTime());
    }

    @Override
    public Optional<Entry> find(String path) throws IOException {
        try {
            FileStatus status = retries.call("find", describe(path), () -> fileSystem.getFileStatus(path(path)));
            return Optional.of(entry(status.getPath().getName(), status));
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
    }

    @Override
    public int read(String path, long offset, ByteBuffer target) throws IOException {
        int start = target.position();
        if (!target.hasRemaining()) {
            return 0;
        }
        try {
            return retries.call("read", describe(path), () -> {
                target.position(start);
                try {
                    reader.read(path, offset, target);
                } finally {
                    // Each file is read once. A second read must return the current content.
                    reader.forget(path);
                }
                requireWhole(path, offset, target.position() - start, target.hasRemaining());
                return target.position() - start;
            });
        } catch (NoSuchObjectException e) {
            throw absent(describe(path), e);
        }
    }

    /** Detects an incomplete reply. A reply that ends before the object does states this at least in its headers. */
    private void requireWhole(String path, long offset, int read, boolean wantsMore) throws IOException {
        CallScope scope = CallScope.current();
        if (!isObjectStore || !wantsMore || scope == null || scope.objectLength() < 0) {
            return;
        }
        if (offset + read < scope.objectLength()) {
            throw new BrokenReadException("the reply ended after " + read + " bytes of " + describe(path)
                    + ", which has " + scope.objectLength());
        }
    }

    private static NoSuchFileException absent(String where, IOException cause) {
        NoSuchFileException absent = new NoSuchFileException(where);
        absent.initCause(cause);
        return absent;
    }

    @Override
    public void close() throws IOException {
        try {
            reader.close();
        } finally {
            store.close();
        }
    }
}
