package dev.stoker.ingest.topic.value;

import dev.stoker.flink.failure.Patience;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;

/** Sets the fields of a record's value in the open row. For one thread. */
interface ValueDecoder {

    /**
     * Sets the fields.
     *
     * @param value has an array; its position is not changed
     * @throws PoisonException if the value is not in the format, or does not fit the fields; the caller must then
     *     abandon the row
     * @throws IOException if this cannot be determined
     */
    void decode(ByteBuffer value, ChunkBuilder builder) throws PoisonException, IOException;

    /**
     * Creates the decoder of a format.
     *
     * @param fields of the dataset
     * @param own the indexes of the fields that the value fills, by name
     * @param clients settings of the Kafka clients
     */
    static ValueDecoder of(RecordFormat format, List<Field> fields, Map<String, Integer> own, Properties clients)
            throws IOException {
        return switch (format.kind()) {
            case RAW ->
                new RawValues(
                        Objects.requireNonNull(own.get(format.field()), "the dataset has the field of the values"));
            case JSON -> new JsonRecordValues(fields, own);
            case AVRO -> new AvroValues(new AvroReader(format, clients, Patience.endlessAfterRestore()), fields, own);
        };
    }
}
