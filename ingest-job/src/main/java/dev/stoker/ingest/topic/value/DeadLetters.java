package dev.stoker.ingest.topic.value;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.schemas.json.Json;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes records that cannot become samples, each into a separate file. The file's name contains partition and offset,
 * so a record that is read again after a failure gets the same file. For one thread.
 */
public final class DeadLetters implements AutoCloseable {

    /** The directory in a dataset. */
    public static final String DIRECTORY = "_stoker/dead-letters";

    /** For larger values only the length is stored; the record itself is in the topic. */
    private static final int MAX_VALUE_BYTES = 64 << 20;

    private final ObjectStore store;
    private final String topic;
    private final String topicId;

    public DeadLetters(String location, String topic, String topicId) throws IOException {
        this.store = Stores.open(location);
        this.topic = topic;
        this.topicId = topicId;
    }

    /** The name of a record's file in the directory. */
    public static String name(String topic, int partition, long offset) {
        return String.format(Locale.ROOT, "%s/%d/%020d.json", topic, partition, offset);
    }

    /** Writes a record; it is durable when this returns. */
    public void write(SourceRecord record, PoisonException reason) throws IOException {
        ObjectNode json = Json.object();
        json.put("topic", topic);
        json.put("topic_id", topicId);
        json.put("partition", record.partition());
        json.put("offset", record.offset());
        json.put("timestamp_ms", record.timestampMs());
        json.put("reason", reason.reason().name().toLowerCase(Locale.ROOT));
        json.put("message", reason.getMessage());
        put(json, "key", record.key());
        ArrayNode headers = json.putArray("headers");
        for (SourceRecord.Header header : record.headers()) {
            put(headers.addObject().put("name", header.name()), "value", wrap(header.value()));
        }
        json.put("value_bytes", record.value() == null ? 0 : record.value().remaining());
        put(json, "value", record.value());
        byte[] line = (Json.PLAIN.writeValueAsString(json) + "\n").getBytes(StandardCharsets.UTF_8);
        store.createIfAbsent(name(topic, record.partition(), record.offset()), line);
    }

    /** Writes Base64, because JSON has no bytes. */
    private static void put(ObjectNode json, String name, @Nullable ByteBuffer bytes) {
        if (bytes == null || bytes.remaining() > MAX_VALUE_BYTES) {
            json.putNull(name);
        } else {
            byte[] copy = new byte[bytes.remaining()];
            bytes.duplicate().get(copy);
            json.put(name, copy);
        }
    }

    private static @Nullable ByteBuffer wrap(byte @Nullable [] bytes) {
        return bytes == null ? null : ByteBuffer.wrap(bytes);
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
