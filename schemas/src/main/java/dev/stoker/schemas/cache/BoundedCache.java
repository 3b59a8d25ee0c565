package dev.stoker.schemas.cache;

import java.io.IOException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the values that were used last, within a limit of bytes. Thread-safe; no thread holds the lock while it loads a
 * value, so two threads may load the same one.
 *
 * @param <K> the keys
 * @param <V> the values
 */
public final class BoundedCache<K, V> {

    /** Loads a value. */
    public interface Loader<V> {
        V load() throws IOException;
    }

    /** Says what happens to a value that is larger than the limit. */
    public enum Large {
        /** It is not kept. */
        NOT_KEPT,
        /** It is kept until another value is added, so that it is not loaded for each use. */
        KEPT_ALONE
    }

    private record Kept<V>(V value, long bytes) {}

    private final long limitBytes;
    private final Large large;

    /** The value used last at the end. The map is the lock, also of {@link #usedBytes}. */
    private final Map<K, Kept<V>> kept = new LinkedHashMap<>(16, 0.75f, true);

    private long usedBytes;

    public BoundedCache(long limitBytes, Large large) {
        this.limitBytes = limitBytes;
        this.large = large;
    }

    /** Returns a value; null if it is not kept. */
    public @Nullable V get(K key) {
        synchronized (kept) {
            Kept<V> known = kept.get(key);
            return known == null ? null : known.value();
        }
    }

    /**
     * Returns a value, and loads it if it is not kept.
     *
     * @param bytes the size of the value
     */
    public V get(K key, long bytes, Loader<V> loader) throws IOException {
        V known = get(key);
        if (known != null) {
            return known;
        }
        V loaded = loader.load();
        put(key, loaded, bytes);
        return loaded;
    }

    /** Keeps a value instead of the one before, if it is not too large. */
    public void put(K key, V value, long bytes) {
        synchronized (kept) {
            remove(key);
            if (bytes > limitBytes && large == Large.NOT_KEPT) {
                return;
            }
            usedBytes += bytes;
            for (Iterator<Kept<V>> oldest = kept.values().iterator(); usedBytes > limitBytes && oldest.hasNext(); ) {
                usedBytes -= oldest.next().bytes();
                oldest.remove();
            }
            kept.put(key, new Kept<>(value, bytes));
        }
    }

    /** Drops a value. Returns it; null if it was not kept. */
    public @Nullable V remove(K key) {
        synchronized (kept) {
            Kept<V> removed = kept.remove(key);
            if (removed == null) {
                return null;
            }
            usedBytes -= removed.bytes();
            return removed.value();
        }
    }

    /** Returns the bytes of all values. */
    public long usedBytes() {
        synchronized (kept) {
            return usedBytes;
        }
    }
}
