package dev.stoker.connectors.kafka;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A record that was read from a topic. Key and value have an array, of which they may be a part. Neither their bytes
 * nor their positions must be changed.
 *
 * @param partition its partition
 * @param offset its offset in the partition
 * @param timestampMs the record's time, in milliseconds since 1970; -1 if it has none
 * @param key null if it has none
 * @param value null if it has none
 * @param headers in order; names may repeat
 */
public record SourceRecord(
        int partition,
        long offset,
        long timestampMs,
        @Nullable ByteBuffer key,
        @Nullable ByteBuffer value,
        List<Header> headers) {

    /**
     * A header.
     *
     * @param name of the header
     * @param value null if it has none
     */
    public record Header(String name, byte @Nullable [] value) {}

    public SourceRecord {
        headers = List.copyOf(headers);
    }

    /** The last header of a name that has a value. */
    public Optional<byte[]> header(String name) {
        for (int i = headers.size() - 1; i >= 0; i--) {
            Header header = headers.get(i);
            if (header.name().equals(name)) {
                return Optional.ofNullable(header.value());
            }
        }
        return Optional.empty();
    }

    /** Bytes of its parts. */
    public long size() {
        long size = (long) (key == null ? 0 : key.remaining()) + (value == null ? 0 : value.remaining());
        for (int i = 0; i < headers.size(); i++) {
            Header header = headers.get(i);
            size += header.name().length() + (header.value() == null ? 0 : header.value().length);
        }
        return size;
    }
}
