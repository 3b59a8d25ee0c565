package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.SourceRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The changes of a topic in which a later record replaces or deletes the sample of an earlier one. Holds the newest
 * record of each key until it is packed, so a key that changes often is packed once. A version cannot both add and
 * remove a sample: before a key changes that the present version has packed, the version must end. For one thread.
 */
final class ChangeBuffer {

    private static final int MOST_REMOVED = 1 << 18;

    private final long mostBytes;
    private final Map<String, SourceRecord> held = new LinkedHashMap<>();
    private final Set<String> removed = new LinkedHashSet<>();
    private SeenKeys packed = new SeenKeys();
    private long bytes;

    /** @param mostBytes of held records, about */
    ChangeBuffer(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** Whether the present version must end before a record with this key is held. */
    boolean endsBefore(String key) {
        return packed.contains(key) || removed.size() >= MOST_REMOVED;
    }

    /** Holds a copy of a record instead of earlier ones with its key: a record in a fetch keeps the whole fetch. */
    void hold(String key, SourceRecord record) {
        SourceRecord before = held.remove(key);
        bytes += record.size() - (before == null ? 0 : before.size());
        held.put(
                key,
                new SourceRecord(
                        record.partition(),
                        record.offset(),
                        record.timestampMs(),
                        copy(record.key()),
                        copy(record.value()),
                        record.headers()));
    }

    private static @Nullable ByteBuffer copy(@Nullable ByteBuffer bytes) {
        return bytes == null
                ? null
                : ByteBuffer.allocate(bytes.remaining()).put(bytes.duplicate()).flip();
    }

    /** Whether what is held should be packed. */
    boolean isFull() {
        return bytes >= mostBytes;
    }

    /** Takes what is held, in the order of the newest records. */
    Map<String, SourceRecord> take() {
        Map<String, SourceRecord> taken = new LinkedHashMap<>(held);
        held.clear();
        bytes = 0;
        return taken;
    }

    /** Notes that the present version has a sample with this key. */
    void packed(String key) {
        packed.add(key);
    }

    /** Notes that the present version removes the sample that earlier versions have with this key. */
    void removes(String key) {
        removed.add(key);
    }

    /** Ends the present version, and returns the keys that it removes. */
    List<String> end() {
        List<String> keys = new ArrayList<>(removed);
        removed.clear();
        packed = new SeenKeys();
        return keys;
    }
}
