package dev.stoker.formats.avro;

import dev.stoker.formats.write.Cell;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimeType;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.values.NumberBytes;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.Deflater;
import org.apache.avro.Schema;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/** Writes one container file; encodes the samples without objects for them. For one thread. */
final class AvroFileOutput implements RowOutput {
    private static final int BLOCK_BYTES = 1 << 20;

    private final OutputTable table;
    private final DataFileWriter<Object> file;
    private final RowBytes encoded = new RowBytes();
    private final BinaryEncoder out = EncoderFactory.get().directBinaryEncoder(encoded, null);

    /** Gives its bytes without copying them. */
    private static final class RowBytes extends ByteArrayOutputStream {
        ByteBuffer view() {
            return ByteBuffer.wrap(buf, 0, count);
        }
    }

    AvroFileOutput(OutputStream stream, OutputTable table) throws IOException {
        this.table = table;
        Schema schema = AvroOutputTypes.record(table);
        file = new DataFileWriter<>(new GenericDatumWriter<>(schema));
        file.setCodec(codec(table.compression())).setSyncInterval(BLOCK_BYTES);
        file.create(schema, new FilterOutputStream(stream) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                out.write(bytes, offset, length);
            }

            @Override
            public void close() throws IOException {
                // The caller closes the stream.
                out.flush();
            }
        });
    }

    private static CodecFactory codec(String compression) {
        return switch (compression) {
            case "deflate" -> CodecFactory.deflateCodec(Deflater.DEFAULT_COMPRESSION);
            case "zstd" -> CodecFactory.zstandardCodec(CodecFactory.DEFAULT_ZSTANDARD_LEVEL);
            default -> CodecFactory.nullCodec();
        };
    }

    @Override
    public void write(RowBatch rows) throws IOException {
        for (int row = 0; row < rows.rows(); row++) {
            encoded.reset();
            for (int c = 0; c < table.columns().size(); c++) {
                boolean isNull = rows.columns().get(c).isNull(row);
                if (table.columns().get(c).nullable()) {
                    out.writeIndex(isNull ? 0 : 1);
                }
                if (!isNull) {
                    value(new Cell(table, rows, c, row));
                }
            }
            out.flush();
            file.appendEncoded(encoded.view());
        }
    }

    private void value(Cell cell) throws IOException {
        FieldType type = cell.type();
        ArrowColumn source = cell.source();
        int row = cell.row();
        ScalarType numbers = type.numbers();
        if (numbers != null) {
            numbers(numbers, source.bytesAt(row));
        } else if (type instanceof ListType list && list.nullItems()) {
            nullable(source, row, list.element());
        } else if (type instanceof ListType list) {
            nested(source, row, list);
        } else if (type instanceof DecimalType) {
            out.writeBytes(source.decimalAt(row).unscaledValue().toByteArray());
        } else if (type instanceof TimestampType timestamp) {
            out.writeLong(timestamp.unit() == TimeResolution.SECONDS ? millis(cell) : source.longAt(row));
        } else if (type instanceof TimeType time) {
            time(time, cell);
        } else {
            scalar((ScalarType) type, cell);
        }
    }

    private void time(TimeType type, Cell cell) throws IOException {
        long value = cell.source().longAt(cell.row());
        switch (type.unit()) {
            case SECONDS -> out.writeInt((int) (value * 1000));
            case MILLISECONDS -> out.writeInt((int) value);
            default -> out.writeLong(value);
        }
    }

    private static long millis(Cell cell) throws UnwritableValueException {
        try {
            return Math.multiplyExact(cell.source().longAt(cell.row()), 1000L);
        } catch (ArithmeticException e) {
            throw cell.refused(
                    "its time does not fit into milliseconds, which are Avro's longest unit", "export to arrow");
        }
    }

    private void scalar(ScalarType type, Cell cell) throws IOException {
        ArrowColumn source = cell.source();
        int row = cell.row();
        switch (type) {
            case BOOL -> out.writeBoolean(source.booleanAt(row));
            case UINT32, INT64 -> out.writeLong(source.longAt(row));
            case FLOAT16, BFLOAT16, FLOAT32 -> out.writeFloat((float) source.doubleAt(row));
            case FLOAT64 -> out.writeDouble(source.doubleAt(row));
            case UTF8, BINARY -> bytes(source.bytesAt(row));
            case CATEGORICAL -> category(cell);
            default -> out.writeInt((int) source.longAt(row));
        }
    }

    private void category(Cell cell) throws IOException {
        OutputColumn column = table.columns().get(cell.column());
        if (AvroOutputTypes.isEnum(column)) {
            out.writeEnum(cell.source().intAt(cell.row()));
        } else {
            out.writeString(table.classAt(cell.rows(), cell.column(), cell.row()));
        }
    }

    /** Text and bytes have the same form: a length and the bytes. */
    private void bytes(ByteBuffer bytes) throws IOException {
        out.writeBytes(bytes);
    }

    private void numbers(ScalarType element, ByteBuffer bytes) throws IOException {
        out.writeArrayStart();
        out.setItemCount(bytes.limit() / element.width());
        for (int at = 0; at < bytes.limit(); at += element.width()) {
            out.startItem();
            number(element, bytes, at);
        }
        out.writeArrayEnd();
    }

    private void number(ScalarType element, ByteBuffer bytes, int at) throws IOException {
        switch (element) {
            case UINT32, INT64 -> out.writeLong(NumberBytes.integerAt(element, bytes, at));
            case FLOAT16, BFLOAT16, FLOAT32 -> out.writeFloat((float) NumberBytes.floatAt(element, bytes, at));
            case FLOAT64 -> out.writeDouble(bytes.getDouble(at));
            default -> out.writeInt((int) NumberBytes.integerAt(element, bytes, at));
        }
    }

    /** Writes items that are unions of null and a value. */
    private void nullable(ArrowColumn source, int row, ScalarType type) throws IOException {
        out.writeArrayStart();
        out.setItemCount(source.itemCount(row));
        for (int item = 0; item < source.itemCount(row); item++) {
            out.startItem();
            boolean isNull = source.isNullItem(row, item);
            out.writeIndex(isNull ? 0 : 1);
            if (isNull) {
                out.writeNull();
            } else if (type.isNumber()) {
                number(type, source.itemAt(row, item), 0);
            } else {
                bytes(source.itemAt(row, item));
            }
        }
        out.writeArrayEnd();
    }

    private void nested(ArrowColumn source, int row, ListType type) throws IOException {
        out.writeArrayStart();
        out.setItemCount(source.itemCount(row));
        for (int item = 0; item < source.itemCount(row); item++) {
            out.startItem();
            if (type.isOfLists()) {
                numbers(type.element(), source.itemAt(row, item));
            } else {
                bytes(source.itemAt(row, item));
            }
        }
        out.writeArrayEnd();
    }

    @Override
    public void finish() throws IOException {
        file.close();
    }

    @Override
    public void close() {}
}
