package dev.stoker.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A remote store: every call has a delay, bytes arrive at a rate that all callers share, and none of its files can be
 * mapped, as on a shared directory (NFS, Lustre). Counts calls and bytes. Any thread.
 */
public final class SlowObjectStore implements ObjectStore {

    private final ObjectStore store;
    private final Duration latency;
    private final long bytesPerSecond;
    private final LongAdder lookups = new LongAdder();
    private final LongAdder reads = new LongAdder();
    private final LongAdder bytesRead = new LongAdder();
    private long freeAtNs = System.nanoTime(); // When the line is free again; guarded by this.

    /** @param bytesPerSecond of all reads together; {@link Long#MAX_VALUE} for no bound */
    public SlowObjectStore(ObjectStore store, Duration latency, long bytesPerSecond) {
        this.store = store;
        this.latency = latency;
        this.bytesPerSecond = bytesPerSecond;
    }

    /** Calls for a length or a listing. */
    public long lookups() {
        return lookups.sum();
    }

    /** Calls that read. */
    public long reads() {
        return reads.sum();
    }

    public long bytesRead() {
        return bytesRead.sum();
    }

    private void travel() {
        waitUntil(System.nanoTime() + latency.toNanos());
    }

    private void transfer(long bytes) {
        bytesRead.add(bytes);
        if (bytesPerSecond == Long.MAX_VALUE) {
            return;
        }
        long until;
        synchronized (this) {
            long durationNs = (long) (bytes * (double) TimeUnit.SECONDS.toNanos(1) / bytesPerSecond);
            freeAtNs = Math.max(freeAtNs, System.nanoTime()) + durationNs;
            until = freeAtNs;
        }
        waitUntil(until);
    }

    private static void waitUntil(long ns) {
        for (long left; (left = ns - System.nanoTime()) > 0; ) {
            LockSupport.parkNanos(left);
        }
    }

    @Override
    public String describe(String name) {
        return store.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        lookups.increment();
        travel();
        return store.length(name);
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        reads.increment();
        travel();
        int bytes = target.remaining();
        store.read(name, offset, target);
        transfer(bytes);
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        reads.increment();
        travel();
        byte[] content = store.readAll(name, limitBytes);
        transfer(content.length);
        return content;
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        travel();
        return store.createIfAbsent(name, content);
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        travel();
        store.replace(name, content);
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        travel();
        return store.write(name);
    }

    @Override
    public ObjectIterator list(String prefix, String after) throws IOException {
        lookups.increment();
        travel();
        return store.list(prefix, after);
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        lookups.increment();
        travel();
        return store.listUnfinished(prefix);
    }

    @Override
    public boolean delete(String name) throws IOException {
        travel();
        return store.delete(name);
    }

    @Override
    public Optional<Path> localPath(String name) {
        return Optional.empty();
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
