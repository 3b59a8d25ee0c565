package dev.stoker.cli.browse;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values that were read last, up to a number of bytes. Thread-safe; its lock is this object. */
final class ValueCache {

    /** The place of a value. */
    record Key(long version, Place place, int field) {}

    private final long capacityBytes;
    private final Map<Key, byte[]> values = new LinkedHashMap<>(64, 0.75f, true);
    private long bytes;

    ValueCache(long capacityBytes) {
        this.capacityBytes = capacityBytes;
    }

    synchronized byte @Nullable [] get(Key key) {
        return values.get(key);
    }

    synchronized void put(Key key, byte[] value) {
        if (value.length > capacityBytes / 2) {
            return;
        }
        byte[] before = values.put(key, value);
        bytes += value.length - (before == null ? 0 : before.length);
        Iterator<byte[]> oldest = values.values().iterator();
        while (bytes > capacityBytes) {
            bytes -= oldest.next().length;
            oldest.remove();
        }
    }
}
