package dev.stoker.storage.cloud;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.PartSink;
import dev.stoker.storage.retry.BrokenReadException;
import dev.stoker.storage.retry.Parts;
import dev.stoker.storage.retry.Retries;
import dev.stoker.storage.retry.SlowReadGuard;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Stores objects in a bucket of Google Cloud Storage or a container of Azure Blob Storage. Both create objects with
 * conditional writes; see {@link CloudCreator}.
 *
 * <p>Retries calls that fail for a transient reason; see {@link Retries}. Thread-safe.
 */
public final class CloudObjectStore implements ObjectStore {

    private final Bucket bucket;
    private final CloudLocation location;
    private final Retries retries;
    private final CloudCreator creator;

    CloudObjectStore(Bucket bucket, CloudLocation location, Retries retries) {
        this.bucket = bucket;
        this.location = location;
        this.retries = retries;
        this.creator = new CloudCreator(bucket, location, retries);
    }

    /**
     * Opens the store at a URI with the credentials of the environment. Sends no request to the store.
     *
     * @param settings values by the names of Stoker's settings; see {@link CloudSettings}
     */
    public static CloudObjectStore open(String location, Map<String, String> settings) throws IOException {
        return CloudSettings.of(System.getenv(), settings).open(location);
    }

    Bucket bucket() {
        return bucket;
    }

    CloudLocation location() {
        return location;
    }

    Retries retries() {
        return retries;
    }

    @Override
    public String describe(String name) {
        return location.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        String key = location.key(name);
        return retries.call("find", describe(name), () -> bucket.find(key).length());
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        int start = target.position();
        read(
                name,
                offset,
                target.remaining(),
                (at, part) -> target.position(start + (int) (at - offset)).put(part));
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        if (offset < 0) {
            throw new IllegalArgumentException("Negative offset " + offset);
        }
        String key = location.key(name);
        if (length == 0) {
            return;
        }
        long objectLength = retries.call("read", describe(name), () -> {
            try (Bucket.Body body = bucket.read(key, offset, length)) {
                int read = Parts.copy(body.content(), offset, length, sink, SlowReadGuard.DEFAULT);
                if (read < length && offset + read < body.objectLength()) {
                    throw new BrokenReadException("the reply ended after " + read + " of " + length + " bytes");
                }
                return body.objectLength();
            }
        });
        if (objectLength < offset + length) {
            throw new CorruptDataException(describe(name) + " ends at byte " + objectLength + ", but bytes up to "
                    + (offset + length)
                    + " are needed; the object was truncated: restore it from a copy, and run `stoker verify` on the"
                    + " dataset");
        }
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        String key = location.key(name);
        return retries.call("read", describe(name), () -> {
            int limit = (int) Math.min(limitBytes, Integer.MAX_VALUE - 9);
            // One byte more, because a range of no bytes cannot be requested.
            try (Bucket.Body body = bucket.read(key, 0, limit + 1L)) {
                if (body.objectLength() > limit) {
                    throw new CorruptDataException(
                            describe(name) + " has " + body.objectLength() + " bytes; expected at most " + limitBytes);
                }
                byte[] content = new byte[(int) body.objectLength()];
                int read = Parts.copy(
                        body.content(),
                        0,
                        content.length,
                        (at, part) -> part.get(content, (int) at, part.remaining()),
                        SlowReadGuard.DEFAULT);
                if (read < content.length) {
                    throw new BrokenReadException("the reply ended after " + read + " of " + content.length + " bytes");
                }
                return content;
            }
        });
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        return creator.createIfAbsent(name, content);
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        creator.replace(name, content);
    }

    @Override
    public ObjectWriter write(String name) {
        return new CloudWriter(bucket, creator, name);
    }

    @Override
    public ObjectIterator list(String prefix, String after) {
        return new CloudObjectIterator(bucket, location, retries, prefix, after);
    }

    /** Returns no names: the cloud hides unfinished uploads and deletes them after a week. */
    @Override
    public ObjectIterator listUnfinished(String prefix) {
        return ObjectIterator.none();
    }

    @Override
    public boolean delete(String name) throws IOException {
        String key = location.key(name);
        return retries.call("delete", describe(name), () -> bucket.delete(key));
    }

    @Override
    public Optional<Path> localPath(String name) {
        return Optional.empty();
    }

    @Override
    public void close() throws IOException {
        bucket.close();
    }

    @Override
    public String toString() {
        return location.toString();
    }
}
