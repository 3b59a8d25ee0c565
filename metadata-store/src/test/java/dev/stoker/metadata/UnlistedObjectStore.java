package dev.stoker.metadata;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Optional;

/** Hides one object from listings, and from nothing else. */
record UnlistedObjectStore(ObjectStore store, String hidden) implements ObjectStore {

    @Override
    public String describe(String name) {
        return store.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        return store.length(name);
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        store.read(name, offset, target);
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        return store.readAll(name, limitBytes);
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        return store.createIfAbsent(name, content);
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        store.replace(name, content);
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        return store.write(name);
    }

    @Override
    public ObjectIterator list(String prefix, String after) throws IOException {
        Iterator<ObjectInfo> found = store.list(prefix, after).toList().stream()
                .filter(object -> !object.name().equals(hidden))
                .iterator();
        return new ObjectIterator() {
            @Override
            public boolean hasNext() {
                return found.hasNext();
            }

            @Override
            public ObjectInfo next() {
                return found.next();
            }
        };
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        return store.listUnfinished(prefix);
    }

    @Override
    public boolean delete(String name) throws IOException {
        return store.delete(name);
    }

    @Override
    public Optional<Path> localPath(String name) {
        return store.localPath(name);
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
