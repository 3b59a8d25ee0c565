package dev.stoker.connectors.kafka;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.kafka.RecordHeader;
import java.util.Map;
import java.util.Objects;

/**
 * A record to write to a topic. The value is not copied and must not be changed.
 *
 * @param partition its partition
 * @param headers by name, in order
 * @param value its bytes
 */
public record TopicRecord(int partition, Map<String, byte[]> headers, byte[] value) {
    public TopicRecord {
        Objects.requireNonNull(headers, "headers");
        Objects.requireNonNull(value, "value");
    }

    /** The record of a header and its value; the lane is the partition. */
    public static TopicRecord of(RecordHeader header, byte[] value) {
        return of(header, value, Crc32cs.of(value));
    }

    /** As {@link #of(RecordHeader, byte[])} where the value's own checksum is known. */
    public static TopicRecord of(RecordHeader header, byte[] value, int valueCrc) {
        return new TopicRecord(header.lane(), header.headers(header.crc(valueCrc, value.length)), value);
    }
}
