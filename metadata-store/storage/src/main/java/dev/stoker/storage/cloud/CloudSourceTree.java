package dev.stoker.storage.cloud;

import dev.stoker.storage.SourceTree;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.Parts;
import dev.stoker.storage.retry.SlowReadGuard;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Lists and reads a tree of files in a bucket. A directory is a common prefix of keys. Thread-safe. */
public final class CloudSourceTree implements SourceTree {

    private final CloudObjectStore store;
    private final Bucket bucket;
    private final CloudLocation location;

    CloudSourceTree(CloudObjectStore store) {
        this.store = store;
        this.bucket = store.bucket();
        this.location = store.location();
    }

    /** Opens the tree at a URI. Sends no request to the store. */
    public static CloudSourceTree open(String location) throws IOException {
        return new CloudSourceTree(CloudObjectStore.open(location, Map.of()));
    }

    @Override
    public String location() {
        return location.toString();
    }

    private String describe(String path) {
        return path.isEmpty() ? location() : location.describe(path);
    }

    private String key(String path) {
        return path.isEmpty() ? location.path() : location.key(path);
    }

    private String below(String path) {
        return path.isEmpty() ? location.prefix() : location.key(path) + "/";
    }

    private static Entry file(Bucket.Found object) {
        String name = object.key().substring(object.key().lastIndexOf('/') + 1);
        return new Entry(name, Kind.FILE, object.length(), object.modifiedMs());
    }

    private static Entry directory(String key) {
        return new Entry(key.substring(key.lastIndexOf('/') + 1), Kind.DIRECTORY, 0, 0);
    }

    @Override
    public void list(String directory, Visitor visitor) throws IOException {
        String where = describe(directory);
        String prefix = below(directory);
        boolean isEmpty = true;
        String next = null;
        do {
            Bucket.Page page = page(where, prefix, next);
            for (String found : page.directories()) {
                isEmpty = false;
                visitor.entry(directory(found.substring(0, found.length() - 1)));
            }
            for (Bucket.Found object : page.objects()) {
                isEmpty = false;
                if (!object.key().endsWith("/")) {
                    visitor.entry(file(object));
                }
            }
            next = page.next();
        } while (next != null);
        if (isEmpty && !prefix.isEmpty()) {
            Entry found = find(directory).orElseThrow(() -> new NoSuchFileException(where));
            if (found.kind() != Kind.DIRECTORY) {
                throw new NotDirectoryException(where);
            }
        }
    }

    private Bucket.Page page(String where, String prefix, @Nullable String next) throws IOException {
        return store.retries().call("list", where, () -> bucket.list(prefix, "", Bucket.Depth.ONE_LEVEL, next));
    }

    @Override
    public Optional<Entry> find(String path) throws IOException {
        String key = key(path);
        return store.retries().call("find", describe(path), () -> {
            if (!key.isEmpty()) {
                try {
                    return Optional.of(file(bucket.find(key)));
                } catch (FileNotFoundException e) {
                    // It may be a directory.
                }
            }
            Bucket.Page page = bucket.list(below(path), "", Bucket.Depth.ONE_LEVEL, null);
            boolean exists = key.isEmpty()
                    || !page.objects().isEmpty()
                    || !page.directories().isEmpty()
                    || bucket.isEmptyDirectory(key);
            return exists ? Optional.of(directory(key)) : Optional.empty();
        });
    }

    @Override
    public int read(String path, long offset, ByteBuffer target) throws IOException {
        int start = target.position();
        int length = target.remaining();
        if (length == 0) {
            return 0;
        }
        try {
            return store.retries().call("read", describe(path), () -> {
                target.position(start);
                try (Bucket.Body body = bucket.read(key(path), offset, length)) {
                    int read = Parts.copy(
                            body.content(), offset, length, (at, part) -> target.put(part), SlowReadGuard.DEFAULT);
                    if (read < length && offset + read < body.objectLength()) {
                        throw new BrokenReadException("the reply ended after " + read + " bytes of " + describe(path)
                                + ", which has " + body.objectLength());
                    }
                    return read;
                }
            });
        } catch (NoSuchObjectException e) {
            NoSuchFileException absent = new NoSuchFileException(describe(path));
            absent.initCause(e);
            throw absent;
        }
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
