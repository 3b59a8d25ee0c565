package dev.stoker.ingest.topic.value;

import dev.stoker.connectors.kafka.registry.SchemaRegistry;
import dev.stoker.flink.failure.Patience;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.jspecify.annotations.Nullable;

/** Reads Avro values, with the schemas of a registry or of a file. For one thread. */
public final class AvroReader {

    private static final int FRAME_BYTES = 5;
    private static final String USER = "basic.auth.user.info";

    private final RecordFormat format;
    private final Patience patience;
    private final @Nullable SchemaRegistry registry;
    private final Schema wanted;
    private final Map<Integer, GenericDatumReader<GenericRecord>> readers = new HashMap<>();
    private @Nullable BinaryDecoder decoder;

    /** @param patience decides how long a value waits for a registry that is unavailable */
    public AvroReader(RecordFormat format, Properties clients, Patience patience) throws IOException {
        this.format = format;
        this.patience = patience;
        this.registry = format.registry() == null ? null : registry(format, clients);
        this.wanted = AvroFields.parse(Objects.requireNonNull(format.avroSchema(), "the newest schema is known"));
    }

    /** @param clients settings; only {@code basic.auth.user.info} is used */
    public static SchemaRegistry registry(RecordFormat format, Properties clients) {
        return new SchemaRegistry(
                Objects.requireNonNull(format.registry()), Optional.ofNullable(clients.getProperty(USER)));
    }

    /** The schema into which values are read. */
    public Schema schema() {
        return wanted;
    }

    /**
     * Reads a value.
     *
     * @param value big-endian, with an array; its position is not changed
     * @throws PoisonException if it is not a value of the schema
     * @throws IOException if the registry does not answer
     */
    public GenericRecord read(ByteBuffer value) throws PoisonException, IOException {
        int id = 0;
        int start = value.position();
        if (format.wire() == RecordFormat.Wire.CONFLUENT) {
            if (value.remaining() < FRAME_BYTES || value.get(start) != 0) {
                throw poison("it does not begin with a zero byte and a schema's id; if the values are plain Avro, give "
                        + (format.registry() == null
                                ? "--avro-wire plain"
                                : "their schema with --avro-schema FILE instead of --schema-registry"));
            }
            id = value.getInt(start + 1);
            start += FRAME_BYTES;
        }
        GenericDatumReader<GenericRecord> reader = reader(id);
        decoder = DecoderFactory.get()
                .binaryDecoder(value.array(), value.arrayOffset() + start, value.limit() - start, decoder);
        try {
            GenericRecord record = reader.read(null, decoder);
            if (!decoder.isEnd()) {
                throw poison("bytes follow the Avro value: it is of another schema"
                        + (format.wire() == RecordFormat.Wire.PLAIN
                                ? ", or a schema's id is in front of it; then give --avro-wire confluent"
                                : ""));
            }
            return record;
        } catch (IOException
                | AvroRuntimeException
                | IndexOutOfBoundsException
                | NegativeArraySizeException
                | UnsupportedOperationException e) {
            // Exceptions that Avro's reader throws on a value of another schema.
            throw poison("it is not an Avro value of the schema: " + e);
        } catch (OutOfMemoryError e) {
            // Avro allocates memory by a length in the value before it checks the remaining bytes.
            throw poison("it is not an Avro value of the schema: a length in it does not fit into memory");
        }
    }

    private GenericDatumReader<GenericRecord> reader(int id) throws PoisonException, IOException {
        GenericDatumReader<GenericRecord> reader = readers.get(id);
        if (reader == null) {
            Schema written = registry == null
                    ? wanted
                    : AvroFields.parse(
                            written(id).orElseThrow(() -> poison("the schema registry has no schema " + id)));
            reader = new GenericDatumReader<>(written, wanted);
            readers.put(id, reader);
        }
        return reader;
    }

    /** Asks the registry for a schema. The readers of a streaming ingest wait without a limit until it answers. */
    private Optional<String> written(int id) throws IOException {
        try {
            return patience.call(
                    "Asking the schema registry for schema " + id,
                    () -> Objects.requireNonNull(registry, "only its values name a schema")
                            .schema(id));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for the schema registry");
        }
    }

    private static PoisonException poison(String message) {
        return new PoisonException(PoisonException.Reason.VALUE, message);
    }
}
