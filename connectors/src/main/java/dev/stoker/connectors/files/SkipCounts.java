package dev.stoker.connectors.files;

import dev.stoker.flink.types.Texts;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;

/**
 * Counts skipped files and rows by reason, with an example each unless they were counted together. As bytes: per reason
 * one byte for its code, the number as i64, the path as a text, empty without an example. For one thread.
 */
public final class SkipCounts {

    private final Map<FileSkip, Long> counts = new EnumMap<>(FileSkip.class);
    private final Map<FileSkip, String> examples = new EnumMap<>(FileSkip.class);

    /** Counts one file. The example is the first in the order of names, so that runs agree. */
    public void add(FileSkip reason, String path) {
        add(reason, 1, path);
    }

    /** Counts several without an example; nothing for 0. */
    public void addAll(FileSkip reason, long count) {
        if (count > 0) {
            counts.merge(reason, count, Long::sum);
        }
    }

    private void add(FileSkip reason, long count, String path) {
        addAll(reason, count);
        if (path.isEmpty()) {
            return;
        }
        examples.merge(reason, path, (a, b) -> a.compareTo(b) <= 0 ? a : b);
    }

    /** Adds all of another. */
    public void add(SkipCounts other) {
        other.counts.forEach((reason, count) -> add(reason, count, other.examples.getOrDefault(reason, "")));
    }

    public boolean isEmpty() {
        return counts.isEmpty();
    }

    public long count(FileSkip reason) {
        return counts.getOrDefault(reason, 0L);
    }

    /** A path that was left out for this reason. */
    public Optional<String> example(FileSkip reason) {
        return Optional.ofNullable(examples.get(reason));
    }

    /** The counts by reason, without the zeros. */
    public Map<FileSkip, Long> byReason() {
        return Map.copyOf(counts);
    }

    /** Returns a line for each reason, with the number of entries and an example. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        counts.forEach((reason, count) -> lines.add("left out: " + reason.text(count)
                + example(reason).map(path -> ", such as " + path).orElse("")));
        return lines;
    }

    public byte[] toBytes() {
        DataOutputSerializer out = new DataOutputSerializer(128);
        try {
            for (Map.Entry<FileSkip, Long> entry : counts.entrySet()) {
                out.writeByte(entry.getKey().ordinal());
                out.writeLong(entry.getValue());
                Texts.write(examples.getOrDefault(entry.getKey(), ""), out);
            }
        } catch (IOException e) {
            throw new IllegalStateException("an array in memory cannot fail", e);
        }
        return out.getCopyOfBuffer();
    }

    public static SkipCounts fromBytes(byte[] bytes) throws IOException {
        SkipCounts counts = new SkipCounts();
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        while (in.available() > 0) {
            FileSkip reason = FileSkip.of(in.readByte());
            counts.add(reason, in.readLong(), Texts.read(in));
        }
        return counts;
    }
}
