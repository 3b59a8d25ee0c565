package dev.stoker.client;

import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.transport.Buffers;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.DecimalType;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeText;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.Welcome;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The samples of one step. Columns have Arrow's layout, in the memory into which they were received. All values are
 * little-endian, read-only views of it, and stay valid until {@link #close}. The garbage collector frees a batch that
 * is never closed. Any thread may read it; one thread may call {@code close}.
 *
 * <p>Rows are counted from 0 over all pieces of the batch. Fields are addressed by name; an unknown name, or a type
 * that does not fit, causes an IllegalArgumentException.
 */
public final class Batch implements AutoCloseable {
    /** The class of a row that has none. Losses of many libraries ignore it; as an index it is out of bounds. */
    public static final int NO_CLASS = -100;

    /** The position after the batch, and the batches that the feed leaves out. */
    record Resume(Position after, SkipList skip) {}

    private final Welcome welcome;
    private final List<Field> fields;
    private final View view;
    /** Names of the columns of the messages. */
    private final List<String> columns;

    private final List<ReceivedPiece> pieces;
    private final Resume resume;
    private final int rows;
    private final BatchParts parts;

    Batch(Welcome welcome, View view, List<ReceivedPiece> pieces, Resume resume, Buffers buffers) {
        this.welcome = welcome;
        this.fields = StreamInfo.fields(welcome);
        this.view = view;
        this.columns = view.columns();
        this.pieces = pieces;
        this.resume = resume;
        this.rows = (int) pieces.stream()
                .mapToLong(piece -> piece.header().identity().rows())
                .sum();
        this.parts = new BatchParts(pieces, fields, view.numbers(), buffers);
    }

    public long epoch() {
        return pieces.get(0).header().identity().epoch();
    }

    /**
     * The batch's number in the epoch, over all ranks; for joined batches the first number. A repeated batch has a
     * number after the epoch's end.
     */
    public long number() {
        return pieces.get(0).header().identity().number();
    }

    public int rows() {
        return rows;
    }

    /** The number of rows that are also delivered elsewhere in the epoch, and repeated here only to keep ranks even. */
    public int repeated() {
        return (int) pieces.stream()
                .filter(ReceivedPiece::isRepeated)
                .mapToLong(piece -> piece.header().identity().rows())
                .sum();
    }

    /** The number of rows that were left out because their data is damaged. */
    public int skipped() {
        return (int) pieces.stream()
                .mapToLong(piece -> piece.header().identity().skipped())
                .sum();
    }

    /**
     * The position after this batch, as small JSON for {@link FeedClient#load}: the same on every rank, and in Python.
     */
    public String state() {
        return FeedState.of(resume.after, welcome, resume.skip);
    }

    /** The received messages, one for each piece: Arrow record batch messages without a schema. */
    public List<ByteBuffer> messages() {
        return pieces.stream().map(piece -> view(piece.message())).toList();
    }

    /** The names of the columns: {@code key} and fields in dataset order, or the selected ones of them. */
    public List<String> columns() {
        return columns;
    }

    /** The rows' keys. */
    public List<String> keys() {
        requireKey();
        List<String> keys = new ArrayList<>(rows);
        for (BatchParts.Part part : parts.all()) {
            for (int row = 0; row < part.rows(); row++) {
                keys.add(part.columns().get(0).stringAt(row));
            }
        }
        return keys;
    }

    /** A row's key. */
    public String key(int row) {
        requireKey();
        BatchParts.Cell cell = cell(0, row);
        return cell.column().stringAt(cell.row());
    }

    /** Whether a row has no value. */
    public boolean isMissing(String field, int row) {
        BatchParts.Cell cell = cell(index(field), row);
        return cell.column().isNull(cell.row());
    }

    /**
     * The bytes of a row: of a utf8 or binary field, or the elements of a list or tensor. A missing value has no bytes,
     * or the zeros of a tensor.
     */
    public ByteBuffer bytes(String field, int row) {
        BatchParts.Cell cell = cell(index(field), row);
        require(field, cell.column().field().type().mayBePayload(), "utf8, binary, a list or a tensor");
        return view(cell.column().bytesAt(cell.row()));
    }

    /** The text of a row in a utf8 field. */
    public String text(String field, int row) {
        BatchParts.Cell cell = cell(index(field), row);
        require(field, cell.column().field().type() == ScalarType.UTF8, "utf8");
        return cell.column().stringAt(cell.row());
    }

    /** The number of a row in a decimal field. */
    public BigDecimal decimal(String field, int row) {
        BatchParts.Cell cell = cell(index(field), row);
        require(field, cell.column().field().type() instanceof DecimalType, "decimal");
        return cell.column().decimalAt(cell.row());
    }

    /**
     * The items of a row in a {@code utf8[]}, {@code binary[]} or list of lists, or in a list with null items such as
     * {@code int32?[]}: the bytes of a text, a byte string or a number, or the elements of a list. A missing value has
     * no items. A null item has zeros or no bytes; see {@link #isNullItem}.
     */
    public List<ByteBuffer> items(String field, int row) {
        BatchParts.Cell cell = cell(index(field), row);
        boolean fits = cell.column().field().type().items() != null;
        require(field, fits, "utf8[], binary[], a list of lists or a list with null items");
        List<ByteBuffer> items = new ArrayList<>();
        for (int item = 0; item < cell.column().itemCount(cell.row()); item++) {
            items.add(view(cell.column().itemAt(cell.row(), item)));
        }
        return items;
    }

    /** Whether an item of a row is null. Only the items of types such as {@code int32?[]} may be null. */
    public boolean isNullItem(String field, int row, int item) {
        BatchParts.Cell cell = cell(index(field), row);
        require(field, cell.column().field().type().hasNullItems(), "a list with null items");
        return cell.column().isNullItem(cell.row(), item);
    }

    /** The texts of a row in a {@code utf8[]} field. A missing value has none. */
    public List<String> texts(String field, int row) {
        int index = index(field);
        require(field, typeOf(index).equals(new ListType(ScalarType.UTF8)), "utf8[]");
        return items(field, row).stream()
                .map(item -> StandardCharsets.UTF_8.decode(item).toString())
                .toList();
    }

    /** The name of a row's class; empty if it has none. */
    public Optional<String> className(String field, int row) {
        BatchParts.Cell cell = cell(index(field), row);
        require(field, cell.column().field().type() == ScalarType.CATEGORICAL, "categorical");
        return cell.column().isNull(cell.row())
                ? Optional.empty()
                : Optional.of(Objects.requireNonNull(
                                welcome.columns().classes().get(field), "a categorical field has classes")
                        .get((int) cell.column().longAt(cell.row())));
    }

    /**
     * All rows of a field of at most 32 bits (as signed numbers, except unsigned types of fewer bits), bool or
     * categorical. A missing class is {@link #NO_CLASS}.
     *
     * @throws IllegalStateException if another value is missing; give its value to {@link #ints(String, int)}
     */
    public int[] ints(String field) {
        return narrow(longs(field));
    }

    /** The same, with a number for missing values, also of classes. */
    public int[] ints(String field, int missing) {
        return narrow(longs(field, missing));
    }

    private int[] narrow(long[] wide) {
        int[] values = new int[rows];
        for (int row = 0; row < rows; row++) {
            values[row] = (int) wide[row];
        }
        return values;
    }

    /**
     * All rows of an integer field, bool (0, 1) or categorical (the class's id), or the units of a timestamp, date or
     * time. A missing class is {@link #NO_CLASS}.
     *
     * @throws IllegalStateException if another value is missing; give its value to {@link #longs(String, long)}
     */
    public long[] longs(String field) {
        long[] values = longs(field, NO_CLASS);
        if (typeOf(index(field)) != ScalarType.CATEGORICAL) {
            requireAll(field, "longs");
        }
        return values;
    }

    /** The same, with a number for missing values, also of classes. */
    public long[] longs(String field, long missing) {
        int index = index(field);
        FieldType type = typeOf(index);
        boolean fits = TimeText.isTime(type)
                || (type instanceof ScalarType scalar && (scalar.isInteger() || isIdOrBit(scalar)));
        require(field, fits, "an integer");
        long[] values = new long[rows];
        for (BatchParts.Part part : parts.all()) {
            ArrowColumn column = part.columns().get(index);
            for (int row = 0; row < part.rows(); row++) {
                values[part.firstRow() + row] = column.isNull(row) ? missing : column.longAt(row);
            }
        }
        return values;
    }

    private static boolean isIdOrBit(ScalarType type) {
        return type == ScalarType.CATEGORICAL || type == ScalarType.BOOL;
    }

    /**
     * All rows of a floating-point field.
     *
     * @throws IllegalStateException if a value is missing; give its value to {@link #floats(String, float)}
     */
    public float[] floats(String field) {
        float[] values = floats(field, Float.NaN);
        requireAll(field, "floats");
        return values;
    }

    /** The same, with a number for missing values. */
    public float[] floats(String field, float missing) {
        double[] wide = doubles(field, missing);
        float[] values = new float[rows];
        for (int row = 0; row < rows; row++) {
            values[row] = (float) wide[row];
        }
        return values;
    }

    /**
     * All rows of a floating-point field.
     *
     * @throws IllegalStateException if a value is missing; give its value to {@link #doubles(String, double)}
     */
    public double[] doubles(String field) {
        double[] values = doubles(field, Double.NaN);
        requireAll(field, "doubles");
        return values;
    }

    private void requireAll(String field, String method) {
        int index = index(field);
        for (BatchParts.Part part : parts.all()) {
            ArrowColumn column = part.columns().get(index);
            for (int row = 0; row < part.rows(); row++) {
                if (column.isNull(row)) {
                    throw new IllegalStateException("epoch " + epoch() + ", batch " + number() + ", row "
                            + (part.firstRow() + row) + ": field '" + field
                            + "' has no value, and an array has no mask; give one for missing values, such as "
                            + method + "(\"" + field + "\", 0)");
                }
            }
        }
    }

    /** The same, with a number for missing values. */
    public double[] doubles(String field, double missing) {
        int index = index(field);
        FieldType type = typeOf(index);
        require(field, type instanceof ScalarType scalar && scalar.isFloat(), "a floating-point number");
        double[] values = new double[rows];
        for (BatchParts.Part part : parts.all()) {
            ArrowColumn column = part.columns().get(index);
            for (int row = 0; row < part.rows(); row++) {
                values[part.firstRow() + row] = column.isNull(row) ? missing : column.doubleAt(row);
            }
        }
        return values;
    }

    /**
     * The values of all rows in sequence, with zeros at null items, one buffer for each piece. If a batch has one
     * piece, a tensor library can use the buffer without copying. For tensors, numbers, times, decimals, utf8, binary
     * and lists; not for bool, and not for lists of lists, texts or byte strings.
     */
    public List<ByteBuffer> values(String field) {
        int index = index(field);
        boolean fits = typeOf(index) != ScalarType.BOOL && typeOf(index).layout() != FieldType.Layout.NESTED;
        require(field, fits, "a type whose rows are bytes in sequence; see items");
        List<ByteBuffer> values = new ArrayList<>();
        for (BatchParts.Part part : parts.all()) {
            ArrowColumn column = part.columns().get(index);
            values.add(view(part.message().slice(column.valuesPosition(), column.valuesLength())));
        }
        return values;
    }

    /** Returns the memory for the next batches; the batch must not be used any more. */
    @Override
    public void close() {
        parts.close();
    }

    private void requireKey() {
        if (!view.includes(0)) {
            throw new IllegalArgumentException(
                    "the keys were not selected; add 'key' to columns, which are " + columns);
        }
    }

    private int index(String field) {
        int index = columns.indexOf(field);
        if (index >= 0 && !field.equals(Field.KEY)) {
            return index;
        }
        if (fields.stream().anyMatch(known -> known.name().equals(field))) {
            throw new IllegalArgumentException(
                    "field '" + field + "' was not selected; add it to columns, which are " + columns);
        }
        throw new IllegalArgumentException("there is no field '" + field + "'; known fields are "
                + fields.stream().map(Field::name).toList());
    }

    private FieldType typeOf(int index) {
        return fields.get(view.numbers()[index] - 1).type();
    }

    private void require(String field, boolean fits, String wanted) {
        if (!fits) {
            throw new IllegalArgumentException(
                    "field '" + field + "' has the type " + typeOf(index(field)) + ", not " + wanted);
        }
    }

    private BatchParts.Cell cell(int column, int row) {
        if (row < 0 || row >= rows) {
            throw new IndexOutOfBoundsException("row " + row + " of " + rows);
        }
        return parts.cell(column, row);
    }

    private static ByteBuffer view(ByteBuffer bytes) {
        return bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public String toString() {
        return "Batch[epoch " + epoch() + ", number " + number() + ", " + rows + " rows]";
    }
}
