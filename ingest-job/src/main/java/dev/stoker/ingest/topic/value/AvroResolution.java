package dev.stoker.ingest.topic.value;

import dev.stoker.formats.avro.AvroRecords;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * Reads values that were written with another schema. Avro resolves them: it fills in defaults, and finds fields by
 * their aliases. Each value is decoded and encoded again, so it takes longer than one of the wanted schema. For one
 * thread.
 */
final class AvroResolution {

    private final GenericDatumReader<GenericRecord> reader;
    private final GenericDatumWriter<GenericRecord> writer;
    private final Encoded encoded = new Encoded();
    private @Nullable BinaryDecoder decoder;
    private @Nullable BinaryEncoder encoder;
    private @Nullable GenericRecord last;

    /** Gives its array. */
    private static final class Encoded extends ByteArrayOutputStream {
        byte[] array() {
            return buf;
        }
    }

    /**
     * @param written the schema of the values
     * @param wanted the schema of the records
     */
    AvroResolution(Schema written, Schema wanted) {
        reader = new GenericDatumReader<>(written, wanted);
        writer = new GenericDatumWriter<>(wanted);
    }

    /**
     * Reads a value as a record.
     *
     * @return whether bytes follow the value
     * @throws IOException if it is not a value of the schema, with a clause
     */
    boolean read(byte[] bytes, int from, int to, AvroRecords records) throws IOException {
        decoder = DecoderFactory.get().binaryDecoder(bytes, from, to - from, decoder);
        encoded.reset();
        try {
            last = reader.read(last, decoder);
            encoder = EncoderFactory.get().binaryEncoder(encoded, encoder);
            writer.write(last, encoder);
            encoder.flush();
        } catch (IOException
                | AvroRuntimeException
                | IndexOutOfBoundsException
                | NegativeArraySizeException
                | UnsupportedOperationException e) {
            // Exceptions that Avro's reader throws on a value of another schema.
            last = null;
            throw new IOException(e.toString(), e);
        } catch (OutOfMemoryError e) {
            // Avro allocates memory by a length in the value before it checks the remaining bytes.
            last = null;
            throw new IOException("a length in it does not fit into memory", e);
        }
        if (!decoder.isEnd()) {
            return true;
        }
        records.read(encoded.array(), 0, encoded.size());
        return false;
    }
}
