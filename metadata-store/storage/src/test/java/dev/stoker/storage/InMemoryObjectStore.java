package dev.stoker.storage;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** Objects in memory. Any thread. */
public final class InMemoryObjectStore implements ObjectStore {

    private record Stored(byte[] content, long modifiedMs) {}

    private final ConcurrentMap<String, Stored> objects = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Stored> unfinished = new ConcurrentHashMap<>();
    private final AtomicLong uploads = new AtomicLong();
    private final InstantSource clock;

    public InMemoryObjectStore() {
        this(InstantSource.system());
    }

    public InMemoryObjectStore(InstantSource clock) {
        this.clock = clock;
    }

    /** Another store with the same objects. */
    public InMemoryObjectStore copy() {
        InMemoryObjectStore copy = new InMemoryObjectStore(clock);
        copy.objects.putAll(objects);
        return copy;
    }

    /** Replaces an object's bytes behind the store's back. */
    public void corrupt(String name, byte[] content) {
        objects.put(name, new Stored(content.clone(), clock.millis()));
    }

    @Override
    public String describe(String name) {
        return "/memory/" + ObjectNames.check(name);
    }

    @Override
    public long length(String name) throws IOException {
        return get(name).length;
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        if (offset < 0) {
            throw new IllegalArgumentException("Negative offset " + offset);
        }
        byte[] content = get(name);
        if (offset + target.remaining() > content.length) {
            throw new CorruptDataException(describe(name) + " ends at byte " + content.length + ", but bytes up to "
                    + (offset + target.remaining()) + " are needed");
        }
        target.put(content, (int) offset, target.remaining());
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        byte[] content = get(name);
        if (content.length > limitBytes) {
            throw new CorruptDataException(
                    describe(name) + " has " + content.length + " bytes; expected at most " + limitBytes);
        }
        return content.clone();
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) {
        ObjectNames.check(name);
        return objects.putIfAbsent(name, new Stored(content.clone(), clock.millis())) == null;
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        ObjectNames.check(name);
        Stored next = new Stored(content.clone(), clock.millis());
        if (objects.computeIfPresent(name, (key, old) -> next) == null) {
            throw new NoSuchObjectException(describe(name));
        }
    }

    @Override
    public ObjectWriter write(String name) {
        String upload = ObjectNames.check(name) + ".upload-" + uploads.incrementAndGet();
        unfinished.put(upload, new Stored(new byte[0], clock.millis()));
        return new Writer(name, upload);
    }

    @Override
    public ObjectIterator list(String prefix, String after) {
        return iterate(objects, name -> name.startsWith(prefix) && name.compareTo(after) > 0);
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) {
        return iterate(unfinished, name -> name.startsWith(prefix));
    }

    private static ObjectIterator iterate(Map<String, Stored> from, Predicate<String> wanted) {
        Iterator<ObjectInfo> found = from.entrySet().stream()
                .filter(entry -> wanted.test(entry.getKey()))
                .map(entry ->
                        new ObjectInfo(entry.getKey(), entry.getValue().content.length, entry.getValue().modifiedMs))
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
    public boolean delete(String name) {
        ObjectNames.check(name);
        boolean wasWhole = objects.remove(name) != null;
        boolean wasUnfinished = unfinished.remove(name) != null;
        return wasWhole || wasUnfinished;
    }

    @Override
    public Optional<Path> localPath(String name) {
        return Optional.empty();
    }

    @Override
    public void close() {}

    private byte[] get(String name) throws NoSuchObjectException {
        Stored stored = objects.get(ObjectNames.check(name));
        if (stored == null) {
            throw new NoSuchObjectException(describe(name));
        }
        return stored.content;
    }

    private final class Writer implements ObjectWriter {
        private final String name;
        private final String upload;
        private final ByteArrayOutputStream content = new ByteArrayOutputStream();
        private boolean done;

        Writer(String name, String upload) {
            this.name = name;
            this.upload = upload;
        }

        @Override
        public void write(ByteBuffer bytes) {
            byte[] part = new byte[bytes.remaining()];
            bytes.get(part);
            content.writeBytes(part);
        }

        @Override
        public long position() {
            return content.size();
        }

        @Override
        public void commit() throws IOException {
            if (done) {
                throw new IllegalStateException("The writer of " + name + " is closed or committed");
            }
            if (!createIfAbsent(name, content.toByteArray())) {
                throw new IOException("Cannot write " + describe(name) + ": it already exists");
            }
            close();
        }

        @Override
        public void close() {
            done = true;
            unfinished.remove(upload);
        }
    }
}
