package dev.stoker.formats.tfrecord;

import dev.stoker.formats.block.StreamCompression;
import dev.stoker.formats.tfrecord.ExampleFeature.Kind;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.values.NumberBytes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.zip.CRC32C;

/** Writes TFRecord files of {@code tf.train.Example}. */
public final class TfRecordWriter implements RowFormatWriter {
    @Override
    public String name() {
        return "tfrecord";
    }

    @Override
    public List<String> compressions() {
        return List.of("none", "gzip");
    }

    @Override
    public String ending(String compression) {
        return ".tfrecord" + StreamCompression.ending(compression);
    }

    @Override
    public List<String> problems(OutputTable table) {
        List<String> problems = new ArrayList<>();
        String leaveOut =
                table.leaveOut(c -> kind(table.columns().get(c).type()).isEmpty());
        for (OutputColumn column : table.columns()) {
            if (kind(column.type()).isEmpty()) {
                problems.add("column " + column.name() + ": TFRecord has lists of bytes, float32 and int64, and cannot"
                        + " hold " + column.type() + "; " + leaveOut + "export to parquet");
            }
        }
        return problems;
    }

    @Override
    public String type(OutputColumn column) {
        return kind(column.type()).map(kind -> kind + "_list").orElse("none");
    }

    private static Optional<Kind> kind(FieldType type) {
        if (type instanceof ListType list) {
            return list.nullItems() || list.isOfLists() ? Optional.empty() : kind(list.item());
        }
        if (type instanceof TensorType tensor) {
            return kind(tensor.element());
        }
        if (type instanceof DecimalType || type == ScalarType.FLOAT64 || type == ScalarType.UINT64) {
            return Optional.empty();
        }
        if (type == ScalarType.UTF8 || type == ScalarType.BINARY || type == ScalarType.CATEGORICAL) {
            return Optional.of(Kind.BYTES);
        }
        return Optional.of(type instanceof ScalarType scalar && scalar.isFloat() ? Kind.FLOAT : Kind.INT64);
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new Output(StreamCompression.open(out, table.compression()), table);
    }

    private static final class Output implements RowOutput {
        private final OutputStream out;
        private final OutputTable table;
        private final byte[][] names;
        private final ProtoOutput values = new ProtoOutput();
        private final ProtoOutput packed = new ProtoOutput();
        private final ProtoOutput feature = new ProtoOutput();
        private final ProtoOutput entry = new ProtoOutput();
        private final ProtoOutput features = new ProtoOutput();
        private final ProtoOutput example = new ProtoOutput();

        Output(OutputStream out, OutputTable table) {
            this.out = out;
            this.table = table;
            this.names = table.columns().stream()
                    .map(column -> column.name().getBytes(StandardCharsets.UTF_8))
                    .toArray(byte[][]::new);
        }

        @Override
        public void write(RowBatch rows) throws IOException {
            for (int row = 0; row < rows.rows(); row++) {
                features.clear();
                for (int c = 0; c < names.length; c++) {
                    if (!rows.columns().get(c).isNull(row)) {
                        add(rows, c, row);
                    }
                }
                example.clear();
                example.message(1, features);
                frame(example);
            }
        }

        private void add(RowBatch rows, int c, int row) {
            FieldType type = table.columns().get(c).type();
            Kind kind = kind(type).orElseThrow();
            values.clear();
            list(rows, c, row, type);
            feature.clear();
            feature.message(kind.ordinal() + 1, values);
            entry.clear();
            entry.lengthTag(1);
            entry.varint(names[c].length);
            entry.add(names[c]);
            entry.message(2, feature);
            features.message(1, entry);
        }

        private void list(RowBatch rows, int c, int row, FieldType type) {
            ArrowColumn source = rows.columns().get(c);
            ScalarType numbers = type.numbers();
            if (numbers != null) {
                numbers(numbers, source.bytesAt(row));
            } else if (type instanceof ListType) {
                for (int item = 0; item < source.itemCount(row); item++) {
                    bytes(source.itemAt(row, item));
                }
            } else if (type == ScalarType.UTF8 || type == ScalarType.BINARY) {
                bytes(source.bytesAt(row));
            } else if (type == ScalarType.CATEGORICAL) {
                bytes(ByteBuffer.wrap(table.classAt(rows, c, row).getBytes(StandardCharsets.UTF_8)));
            } else if (type instanceof ScalarType scalar && scalar.isFloat()) {
                values.lengthTag(1);
                values.varint(4);
                values.fixed32(Float.floatToRawIntBits((float) source.doubleAt(row)));
            } else {
                packed.clear();
                packed.varint(source.longAt(row));
                values.message(1, packed);
            }
        }

        private void bytes(ByteBuffer value) {
            values.lengthTag(1);
            values.varint(value.remaining());
            values.add(value);
        }

        /** Numbers are packed. */
        private void numbers(ScalarType element, ByteBuffer bytes) {
            packed.clear();
            for (int at = 0; at < bytes.limit(); at += element.width()) {
                if (element.isFloat()) {
                    packed.fixed32(Float.floatToRawIntBits((float) NumberBytes.floatAt(element, bytes, at)));
                } else {
                    packed.varint(NumberBytes.integerAt(element, bytes, at));
                }
            }
            if (packed.length() > 0) {
                values.message(1, packed);
            }
        }

        private void frame(ProtoOutput record) throws IOException {
            ByteBuffer head = ByteBuffer.allocate(RecordFrames.HEADER).order(ByteOrder.LITTLE_ENDIAN);
            head.putLong(record.length());
            CRC32C crc = new CRC32C();
            crc.update(head.array(), 0, Long.BYTES);
            head.putInt(RecordFrames.masked(crc));
            out.write(head.array());
            out.write(record.array(), 0, record.length());
            crc.reset();
            crc.update(record.array(), 0, record.length());
            out.write(ByteBuffer.allocate(Integer.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(RecordFrames.masked(crc))
                    .array());
        }

        @Override
        public void finish() throws IOException {
            out.close();
        }

        @Override
        public void close() {}
    }
}
