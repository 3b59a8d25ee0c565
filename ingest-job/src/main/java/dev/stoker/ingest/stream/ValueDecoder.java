package dev.stoker.ingest.stream;

import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** Sets the fields of a record's value in the row that is open. For one thread. */
interface ValueDecoder {

    /**
     * Sets the fields.
     *
     * @throws PoisonException if the value is none of the format, or does not fit the fields; the row must then be abandoned
     * @throws IOException if that cannot be told
     */
    void decode(byte[] value, ChunkBuilder builder) throws PoisonException, IOException;

    /**
     * The decoder of a format.
     *
     * @param fields of the dataset
     * @param own places, among them, of those that the value fills, by name
     * @param clients settings of the Kafka clients
     */
    static ValueDecoder of(ValueFormat format, List<Field> fields, Map<String, Integer> own, Properties clients)
            throws IOException {
        return switch (format.kind()) {
            case RAW -> new RawValues(own.get(format.field()));
            case JSON -> new JsonValues(fields, own);
            case AVRO -> new AvroValues(new AvroReader(format, clients), fields, own);
        };
    }
}
