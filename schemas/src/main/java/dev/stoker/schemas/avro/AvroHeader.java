package dev.stoker.schemas.avro;

import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads and writes the header of an Avro object container without codec:
 *
 * <pre>
 * 'O' 'b' 'j' 01 | map of metadata, in one block, in the given order | 16 sync bytes
 * </pre>
 *
 * @param metadata text by key, including {@code avro.schema} and {@code avro.codec}
 * @param sync the 16 bytes after the header and after each block
 */
public record AvroHeader(Map<String, String> metadata, byte[] sync) {

    private static final byte[] MAGIC = {'O', 'b', 'j', 1};

    /** Bytes of the sync marker. */
    public static final int SYNC_LENGTH = 16;

    private static final int MAX_ENTRIES = 64;

    /** What every container starts with. */
    public static byte[] magic() {
        return MAGIC.clone();
    }

    public void write(AvroOutput out) {
        out.writeFixed(MAGIC);
        out.writeLong(metadata.size());
        metadata.forEach((key, text) -> {
            out.writeString(key);
            out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        });
        out.writeLong(0);
        out.writeFixed(sync);
    }

    /** Reads the header after the magic. */
    public static AvroHeader readAfterMagic(AvroInput in) throws CorruptDataException {
        int count = in.readItems(2);
        if (count > MAX_ENTRIES) {
            throw in.corrupt("the number of metadata entries", "at most " + MAX_ENTRIES, count);
        }
        Map<String, String> metadata = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            String key = in.readString();
            if (metadata.put(key, in.readString()) != null) {
                throw in.corrupt("metadata " + key, "once", "twice");
            }
        }
        in.endItems(count);
        return new AvroHeader(metadata, in.readFixed(SYNC_LENGTH));
    }
}
