package dev.stoker.ingest.topic.value;

import dev.stoker.connectors.kafka.registry.SchemaRegistry;
import dev.stoker.flink.failure.Patience;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.avro.AvroRecords;
import dev.stoker.formats.convert.Conversion;
import dev.stoker.formats.convert.ConvertingSink;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Properties;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Reads Avro values, with the schemas of a registry or of a file. Columns take the Avro fields of their names, as
 * columns of files do. For one thread.
 */
public final class AvroReader implements RecordReader {

    private static final int FRAME_BYTES = 5;
    private static final String USER = "basic.auth.user.info";

    private final RecordFormat format;
    private final Patience patience;
    private final @Nullable SchemaRegistry registry;
    private final Schema schema;
    private final Schema wanted;
    private final AvroRecords records;
    private final Column[] columns;
    /** Values that were written with other schemas, by the id of the schema; null for the wanted schema. */
    private final Map<Integer, Optional<AvroResolution>> resolutions = new HashMap<>();

    /**
     * A column.
     *
     * @param selected index into the selected columns of the records; -1 if the schema does not have it
     * @param conversion reads the values as the type of the column; null if it takes them as they are
     * @param misfit why the column holds no value of the Avro field; null if it may
     */
    private record Column(
            int selected,
            @Nullable ConvertingSink conversion,
            @Nullable String misfit) {
        static final Column ABSENT = new Column(-1, null, null);
    }

    /** @param patience decides how long a value waits for a registry that is unavailable */
    public AvroReader(RecordFormat format, List<Field> columns, Properties clients, Patience patience)
            throws IOException {
        this.format = format;
        this.patience = patience;
        this.registry = format.registry() == null ? null : registry(format, clients);
        this.schema = AvroFields.parse(Objects.requireNonNull(format.avroSchema(), "the newest schema is known"));
        this.wanted = AvroFields.withoutLoops(schema);
        this.records = AvroFields.records(schema);
        this.columns = new Column[columns.size()];
        int[] selected = new int[columns.size()];
        int count = 0;
        for (int c = 0; c < this.columns.length; c++) {
            Field field = columns.get(c);
            int index = indexOf(records.schema(), field);
            this.columns[c] = index < 0 ? Column.ABSENT : column(records.schema(), index, count, field.type());
            if (index >= 0) {
                selected[count++] = index;
            }
        }
        records.select(Arrays.copyOf(selected, count));
    }

    /** Returns the index of a column in the records, or -1. */
    private static int indexOf(RowSchema schema, Field field) {
        for (int i = 0; i < schema.columns().size(); i++) {
            if (schema.columns().get(i).name().equals(field.name())) {
                return i;
            }
        }
        for (int i = 0; i < schema.nullLists().size(); i++) {
            if (schema.nullLists().get(i).name().equals(field.name())) {
                return schema.columns().size() + i;
            }
        }
        return -1;
    }

    private static Column column(RowSchema schema, int index, int selected, FieldType type) {
        if (index >= schema.columns().size()) {
            // Lists whose items have the type null. They have lengths but no values.
            RowColumn list = schema.nullLists().get(index - schema.columns().size());
            return Conversion.isList(type)
                    ? new Column(selected, new ConvertingSink(list.type(), type), null)
                    : new Column(selected, null, misfit(list.type(), type));
        }
        FieldType own = schema.columns().get(index).type();
        return Conversion.of(own, type) == Conversion.IMPOSSIBLE
                ? new Column(selected, null, misfit(own, type))
                : new Column(selected, ConvertingSink.of(own, type).orElse(null), null);
    }

    private static String misfit(FieldType own, FieldType type) {
        return "its values are " + own + ", which a field of type " + type + " does not hold";
    }

    /**
     * Returns why fields can have no value of a schema, so that each record would be a dead letter.
     *
     * @param fields that the value fills
     */
    public static List<String> misfits(RecordFormat format, List<Field> fields, Properties clients) throws IOException {
        AvroReader reader = new AvroReader(format, fields, clients, Patience.ofBatch());
        List<String> misfits = new ArrayList<>();
        for (int c = 0; c < fields.size(); c++) {
            Column column = reader.columns[c];
            String name = fields.get(c).name();
            if (column.misfit() != null) {
                misfits.add("the Avro field " + name + ": " + column.misfit());
            } else if (column.selected() < 0 && !fields.get(c).nullable()) {
                misfits.add("the field " + name + " requires a value, but the Avro schema "
                        + reader.schema.getFullName() + " does not have it");
            }
        }
        return misfits;
    }

    /** @param clients settings; only {@code basic.auth.user.info} is used */
    public static SchemaRegistry registry(RecordFormat format, Properties clients) {
        return new SchemaRegistry(
                Objects.requireNonNull(format.registry()), Optional.ofNullable(clients.getProperty(USER)));
    }

    @Override
    public void read(ByteBuffer value) throws PoisonException, IOException {
        int id = 0;
        int start = value.position();
        if (format.wire() == RecordFormat.Wire.CONFLUENT) {
            if (value.remaining() < FRAME_BYTES || value.get(start) != 0) {
                throw poison("it does not begin with a zero byte and a schema's id; if the values are plain Avro, give "
                        + (format.registry() == null
                                ? "--avro-wire plain"
                                : "their schema with --avro-schema FILE instead of --schema-registry"));
            }
            // Big-endian, whatever the order of the buffer.
            id = value.duplicate().getInt(start + 1);
            start += FRAME_BYTES;
        }
        Optional<AvroResolution> resolution = resolution(id);
        int from = value.arrayOffset() + start;
        int to = value.arrayOffset() + value.limit();
        boolean isLonger;
        try {
            if (resolution.isPresent()) {
                isLonger = resolution.get().read(value.array(), from, to, records);
            } else {
                isLonger = records.read(value.array(), from, to) > 0;
            }
        } catch (IOException e) {
            throw poison("it is not an Avro value of the schema: " + e.getMessage());
        }
        if (isLonger) {
            throw poison("bytes follow the Avro value: it is of another schema"
                    + (format.wire() == RecordFormat.Wire.PLAIN
                            ? ", or a schema's id is in front of it; then give --avro-wire confluent"
                            : ""));
        }
    }

    @Override
    public void get(int index, ValueSink sink) throws BadValueException {
        Column column = columns[index];
        if (column.selected() < 0 || records.isNull(column.selected())) {
            sink.setNull();
        } else if (column.misfit() != null) {
            throw new BadValueException(column.misfit());
        } else {
            ConvertingSink conversion = column.conversion();
            records.get(column.selected(), conversion == null ? sink : conversion.to(sink));
        }
    }

    /** Returns what reads values with the schema of an id as values of the wanted one; empty if it is the same. */
    private Optional<AvroResolution> resolution(int id) throws PoisonException, IOException {
        Optional<AvroResolution> resolution = resolutions.get(id);
        if (resolution == null) {
            Schema written = registry == null
                    ? schema
                    : AvroFields.parse(
                            written(id).orElseThrow(() -> poison("the schema registry has no schema " + id)));
            resolution = written.equals(wanted) ? Optional.empty() : Optional.of(new AvroResolution(written, wanted));
            resolutions.put(id, resolution);
        }
        return resolution;
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
