package dev.stoker.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** Counts what a store is asked. Closing it closes nothing. Any thread. */
public final class CountingObjectStore implements ObjectStore {

    private final ObjectStore store;
    private final AtomicLong reads = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong lengths = new AtomicLong();
    private final AtomicLong listed = new AtomicLong();

    public CountingObjectStore(ObjectStore store) {
        this.store = store;
    }

    /** Objects that were read. */
    public long reads() {
        return reads.get();
    }

    /** Returns the bytes that reads of ranges asked for. */
    public long bytes() {
        return bytes.get();
    }

    /** Returns the number of requests for the length of an object. */
    public long lengths() {
        return lengths.get();
    }

    /** Names that listings have returned. */
    public long listed() {
        return listed.get();
    }

    /** Counts from zero again. */
    public void reset() {
        reads.set(0);
        bytes.set(0);
        lengths.set(0);
        listed.set(0);
    }

    @Override
    public String describe(String name) {
        return store.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        lengths.incrementAndGet();
        return store.length(name);
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        reads.incrementAndGet();
        bytes.addAndGet(target.remaining());
        store.read(name, offset, target);
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        reads.incrementAndGet();
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
        return counted(store.list(prefix, after));
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        return counted(store.listUnfinished(prefix));
    }

    private ObjectIterator counted(ObjectIterator objects) {
        return new ObjectIterator() {
            @Override
            public boolean hasNext() throws IOException {
                return objects.hasNext();
            }

            @Override
            public ObjectInfo next() throws IOException {
                listed.incrementAndGet();
                return objects.next();
            }

            @Override
            public void close() throws IOException {
                objects.close();
            }
        };
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
    public void close() {}
}
