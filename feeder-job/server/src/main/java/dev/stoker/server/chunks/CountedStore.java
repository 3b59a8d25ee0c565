package dev.stoker.server.chunks;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/** A store whose calls are counted, all but those that read chunks. Thread-safe. */
final class CountedStore implements ObjectStore {
    private static final String CHUNKS = ChunkNames.FOLDER + "/";

    private final ObjectStore store;
    private final LongAdder calls;

    CountedStore(ObjectStore store, LongAdder calls) {
        this.store = store;
        this.calls = calls;
    }

    private ObjectStore asked() {
        calls.increment();
        return store;
    }

    @Override
    public String describe(String name) {
        return store.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        return asked().length(name);
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        (name.startsWith(CHUNKS) ? store : asked()).read(name, offset, target);
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        (name.startsWith(CHUNKS) ? store : asked()).read(name, offset, length, sink);
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        return asked().readAll(name, limitBytes);
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        return asked().createIfAbsent(name, content);
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        asked().replace(name, content);
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        return asked().write(name);
    }

    @Override
    public ObjectIterator list(String prefix, String after) throws IOException {
        return asked().list(prefix, after);
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        return asked().listUnfinished(prefix);
    }

    @Override
    public boolean delete(String name) throws IOException {
        return asked().delete(name);
    }

    @Override
    public Optional<Path> localPath(String name) {
        return store.localPath(name);
    }

    @Override
    public void close() throws IOException {
        store.close();
    }

    @Override
    public String toString() {
        return store.toString();
    }
}
