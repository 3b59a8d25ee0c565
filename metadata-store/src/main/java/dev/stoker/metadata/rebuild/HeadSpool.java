package dev.stoker.metadata.rebuild;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOutline;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A store that keeps heads of chunks in a temporary file, so that they are read from the other store only once. All
 * other calls go to the other store. Thread-safe. Closing it deletes the temporary file and leaves the other store
 * open.
 */
final class HeadSpool implements ObjectStore {

    private final ObjectStore store;
    private final FileChannel file;
    private final AtomicLong end = new AtomicLong();
    private final Map<String, Place> heads = new ConcurrentHashMap<>();

    /** The place of a head in the file, and the length of the whole chunk. */
    private record Place(long at, int headLength, long chunkLength) {}

    HeadSpool(ObjectStore store) throws IOException {
        this.store = store;
        Path path = Files.createTempFile("stoker-heads-", "");
        file = FileChannel.open(
                path, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.DELETE_ON_CLOSE);
    }

    /** Keeps a head. */
    void keep(ChunkOutline chunk) throws IOException {
        ByteBuffer head = chunk.headBytes().duplicate().rewind();
        Place place = new Place(
                end.getAndAdd(head.remaining()),
                head.remaining(),
                chunk.summary().length());
        long at = place.at();
        while (head.hasRemaining()) {
            at += file.write(head, at);
        }
        heads.put(ChunkNames.path(chunk.summary().id()), place);
    }

    @Override
    public long length(String name) throws IOException {
        Place place = heads.get(name);
        return place == null ? store.length(name) : place.chunkLength();
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        Place place = heads.get(name);
        if (place == null || offset + target.remaining() > place.headLength()) {
            store.read(name, offset, target);
            return;
        }
        long at = place.at() + offset;
        while (target.hasRemaining()) {
            int read = file.read(target, at);
            if (read < 0) {
                throw new IOException("The temporary file of the heads has become shorter");
            }
            at += read;
        }
    }

    @Override
    public String describe(String name) {
        return store.describe(name);
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
        return store.list(prefix, after);
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
        file.close();
    }
}
