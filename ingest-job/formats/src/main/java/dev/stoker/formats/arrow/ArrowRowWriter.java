package dev.stoker.formats.arrow;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.ArrowFooter;
import dev.stoker.schemas.arrow.ArrowHead;
import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.ArrowSchema;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Writes Arrow IPC files (Feather 2): the record batches of a feed, with dictionaries of class names. */
public final class ArrowRowWriter implements RowFormatWriter {
    /** Bytes of the marker and of the length before the flatbuffer of a message. */
    private static final int PREFIX = 8;

    @Override
    public String name() {
        return "arrow";
    }

    @Override
    public List<String> compressions() {
        return List.of("none");
    }

    @Override
    public String ending(String compression) {
        return ".arrow";
    }

    @Override
    public List<String> problems(OutputTable table) {
        return List.of();
    }

    @Override
    public String type(OutputColumn column) {
        return column.type() == ScalarType.CATEGORICAL
                ? "dictionary of utf8"
                : column.type().canonical();
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new Output(out, table);
    }

    private static final class Output implements RowOutput {
        private final OutputStream out;
        private final ArrowSchema schema;
        private final List<ArrowFooter.Block> dictionaries;
        private final List<ArrowFooter.Block> batches = new ArrayList<>();
        private long position;

        Output(OutputStream out, OutputTable table) throws IOException {
            this.out = out;
            List<ArrowField> fields = new ArrayList<>();
            Map<Integer, List<String>> classes = new HashMap<>();
            for (OutputColumn column : table.columns()) {
                classes.put(fields.size(), column.classes());
                fields.add(
                        column.nullable()
                                ? ArrowField.nullable(column.name(), column.type())
                                : ArrowField.of(column.name(), column.type()));
            }
            schema = ArrowSchema.of(fields);
            ArrowHead.Opening opening = ArrowHead.opening(schema, classes);
            dictionaries = opening.dictionaries();
            out.write(opening.bytes());
            position = opening.bytes().length;
        }

        @Override
        @SuppressWarnings("ByteBufferBackingArray") // The start of the array is added.
        public void write(RowBatch rows) throws IOException {
            ByteBuffer message = rows.message().duplicate().order(ByteOrder.LITTLE_ENDIAN);
            int head = PREFIX + message.getInt(4);
            batches.add(new ArrowFooter.Block(position, head, message.limit() - (long) head));
            out.write(message.array(), message.arrayOffset(), message.limit());
            position += message.limit();
        }

        @Override
        public void finish() throws IOException {
            out.write(ArrowFooter.tail(schema, dictionaries, batches));
        }

        @Override
        public void close() {}
    }
}
