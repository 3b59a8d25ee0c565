package dev.stoker.ingest.topic.value;

import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.formats.values.Utf8;
import dev.stoker.ingest.pack.read.FieldValue;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Converts records to rows. For one thread. */
public final class RowMaker {

    /** The largest sample. */
    public static final long MAX_SAMPLE_BYTES = 1L << 30;

    private final String topic;
    private final RecordMapping mapping;
    private final Map<String, Integer> places = new LinkedHashMap<>();
    private final FieldValues values;

    /** Topic and partition of the last offset key, and the offset. Most records have the partition of the last one. */
    private final StringBuilder offsetKey = new StringBuilder();

    private int offsetKeyPartition = -1;
    private int offsetKeyPrefix;

    public RowMaker(String topic, RecordMapping mapping, RecordFormat format, List<Field> fields, Properties clients)
            throws IOException {
        this.topic = topic;
        this.mapping = mapping;
        for (int i = 0; i < fields.size(); i++) {
            places.put(fields.get(i).name(), i);
        }
        Set<String> mapped = new HashSet<>();
        mapping.fields().forEach(field -> mapped.add(field.name()));
        Map<String, Integer> own = new LinkedHashMap<>(places);
        own.keySet().removeAll(mapped);
        values = new FieldValues(format, fields, own.values(), clients);
    }

    /**
     * Returns the key of the record's sample.
     *
     * @throws PoisonException if the record needs a key and has none, or one that is not text
     */
    public String key(SourceRecord record) throws PoisonException {
        if (mapping.keys() == TopicRun.Keys.OFFSETS) {
            if (record.partition() != offsetKeyPartition) {
                offsetKeyPartition = record.partition();
                offsetKey.setLength(0);
                offsetKey.append(topic).append('-').append(offsetKeyPartition).append('-');
                offsetKeyPrefix = offsetKey.length();
            }
            offsetKey.setLength(offsetKeyPrefix);
            return offsetKey.append(record.offset()).toString();
        }
        String key = text(record.key())
                .orElseThrow(() -> new PoisonException(
                        PoisonException.Reason.KEY, record.key() == null ? "it has no key" : "its key is not UTF-8"));
        if (key.isEmpty()) {
            throw new PoisonException(PoisonException.Reason.KEY, "its key is empty");
        }
        return key;
    }

    private static Optional<String> text(@Nullable ByteBuffer bytes) {
        return bytes != null && Utf8.isValid(bytes)
                ? Optional.of(new String(
                        bytes.array(),
                        bytes.arrayOffset() + bytes.position(),
                        bytes.remaining(),
                        StandardCharsets.UTF_8))
                : Optional.empty();
    }

    /**
     * Adds the record as a row. On failure the builder is unchanged.
     *
     * @throws PoisonException if the record cannot become a sample
     * @throws IOException if this cannot be determined
     */
    public void add(SourceRecord record, String key, ChunkBuilder builder) throws PoisonException, IOException {
        if (record.value() == null) {
            throw new PoisonException(PoisonException.Reason.VALUE, "it has no value");
        }
        if (record.size() > MAX_SAMPLE_BYTES) {
            throw new PoisonException(
                    PoisonException.Reason.TOO_LARGE,
                    "it has " + record.size() + " bytes; a sample may have at most " + MAX_SAMPLE_BYTES);
        }
        boolean isComplete = false;
        builder.beginRow(key);
        try {
            map(record, builder);
            values.set(record.value(), builder);
            builder.endRow();
            isComplete = true;
        } catch (IllegalArgumentException e) {
            throw new PoisonException(PoisonException.Reason.FIELD, ErrorText.of(e));
        } finally {
            if (!isComplete) {
                builder.abandonRow();
            }
        }
    }

    private int place(String field) {
        return Objects.requireNonNull(places.get(field), "the dataset has each field of the mapping");
    }

    private void map(SourceRecord record, ChunkBuilder builder) throws PoisonException {
        if (mapping.timestampField() != null) {
            if (record.timestampMs() < 0) {
                throw new PoisonException(
                        PoisonException.Reason.MISSING_FIELD,
                        "it has no timestamp for the field " + mapping.timestampField());
            }
            builder.setLong(place(mapping.timestampField()), record.timestampMs());
        }
        if (mapping.keyField() != null && record.key() != null) {
            String key = text(record.key())
                    .orElseThrow(() -> new PoisonException(PoisonException.Reason.KEY, "its key is not UTF-8"));
            builder.setString(place(mapping.keyField()), key);
        }
        for (RecordMapping.Header header : mapping.headers()) {
            Optional<byte[]> value = record.header(header.name());
            if (value.isPresent()) {
                try {
                    FieldValue.set(builder, place(header.field()), header.type(), ByteBuffer.wrap(value.get()));
                } catch (IllegalArgumentException e) {
                    throw new PoisonException(
                            PoisonException.Reason.FIELD, "its header " + header.name() + ": " + e.getMessage());
                }
            }
        }
    }
}
