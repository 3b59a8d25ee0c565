package dev.stoker.schemas.batch;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.FieldType.Layout;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.nio.ByteBuffer;

/**
 * Collects the rows of one batch and gathers their small values. Column c of the batch is the key if {@code numbers[c]}
 * is 0, else field {@code numbers[c]} - 1. A null value contributes zeros, or no bytes in types of variable length.
 */
record BatchRows(BatchChunk[] chunks, int[] chunkOf, int[] rowOf, int from, int to, int[] numbers) {
    int count() {
        return to - from;
    }

    BatchChunk chunk(int i) {
        return chunks[chunkOf[from + i]];
    }

    int row(int i) {
        return rowOf[from + i];
    }

    private ArrowColumn column(int i, int c) {
        int number = numbers[c];
        return number == 0 ? chunk(i).head().keys() : chunk(i).head().column(number - 1);
    }

    int nulls(int c) {
        int nulls = 0;
        for (int i = 0; i < count(); i++) {
            nulls += column(i, c).isNull(row(i)) ? 1 : 0;
        }
        return nulls;
    }

    long valueBytes(int c) {
        long bytes = 0;
        for (int i = 0; i < count(); i++) {
            bytes += length(column(i, c), row(i));
        }
        return bytes;
    }

    long items(int c) {
        long items = 0;
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            items += column.isNull(row(i)) ? 0 : column.itemCount(row(i));
        }
        return items;
    }

    int nullItems(int c) {
        int nulls = 0;
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            int row = row(i);
            int count = column.isNull(row) ? 0 : column.itemCount(row);
            for (int item = 0; item < count; item++) {
                nulls += column.isNullItem(row, item) ? 1 : 0;
            }
        }
        return nulls;
    }

    void writeItemValidity(int c, ByteBuffer out, int at) {
        int items = 0;
        int bits = 0;
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            int row = row(i);
            int count = column.isNull(row) ? 0 : column.itemCount(row);
            for (int item = 0; item < count; item++, items++) {
                bits |= column.isNullItem(row, item) ? 0 : 1 << (items & 7);
                if ((items & 7) == 7) {
                    out.put(at + (items >> 3), (byte) bits);
                    bits = 0;
                }
            }
        }
        if ((items & 7) != 0) {
            out.put(at + (items >> 3), (byte) bits);
        }
    }

    void writeValidity(int c, ByteBuffer out, int at) {
        for (int i = 0; i < count(); i += 8) {
            int bits = 0;
            for (int bit = 0; bit < 8 && i + bit < count(); bit++) {
                bits |= column(i + bit, c).isNull(row(i + bit)) ? 0 : 1 << bit;
            }
            out.put(at + i / 8, (byte) bits);
        }
    }

    void writeOffsets(int c, int width, ByteBuffer out, int at) {
        int end = 0;
        out.putInt(at, 0);
        for (int i = 0; i < count(); i++) {
            end += length(column(i, c), row(i)) / width;
            out.putInt(at + 4 * (i + 1), end);
        }
    }

    /** Writes two kinds of offsets of a nested list: of its rows, and of the items of the rows. */
    void writeItemOffsets(int c, ByteBuffer out, int at, int itemsAt) {
        int items = 0;
        int end = 0;
        out.putInt(at, 0);
        out.putInt(itemsAt, 0);
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            int row = row(i);
            int count = column.isNull(row) ? 0 : column.itemCount(row);
            for (int item = 0; item < count; item++) {
                out.putInt(itemsAt + 4 * (items + item + 1), end + column.itemEnd(row, item));
            }
            end += count == 0 ? 0 : column.itemEnd(row, count - 1);
            items += count;
            out.putInt(at + 4 * (i + 1), items);
        }
    }

    void writeValues(int c, FieldType type, ByteBuffer out, int at) {
        if (type == ScalarType.CATEGORICAL) {
            writeClasses(c, out, at);
        } else if (type.layout() == Layout.BITS) {
            writeBits(c, out, at);
        } else if (type.layout() == Layout.FIXED) {
            writeFixed(c, type.width(), out, at);
        } else {
            writeBytes(c, out, at);
        }
    }

    private void writeClasses(int c, ByteBuffer out, int at) {
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            int row = row(i);
            out.putInt(at + 4 * i, column.isNull(row) ? 0 : chunk(i).classIds()[numbers[c] - 1][column.intAt(row)]);
        }
    }

    private void writeBits(int c, ByteBuffer out, int at) {
        for (int i = 0; i < count(); i += 8) {
            int bits = 0;
            for (int bit = 0; bit < 8 && i + bit < count(); bit++) {
                ArrowColumn column = column(i + bit, c);
                int row = row(i + bit);
                bits |= !column.isNull(row) && column.booleanAt(row) ? 1 << bit : 0;
            }
            out.put(at + i / 8, (byte) bits);
        }
    }

    private void writeFixed(int c, int width, ByteBuffer out, int at) {
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            int row = row(i);
            boolean missing = column.isNull(row);
            int from = column.valuePosition(row);
            int to = at + i * width;
            switch (width) {
                case 1 -> out.put(to, missing ? 0 : column.bytes().get(from));
                case 2 -> out.putShort(to, missing ? 0 : column.bytes().getShort(from));
                case 4 -> out.putInt(to, missing ? 0 : column.bytes().getInt(from));
                case 8 -> out.putLong(to, missing ? 0 : column.bytes().getLong(from));
                default -> {
                    out.putLong(to, missing ? 0 : column.bytes().getLong(from));
                    out.putLong(to + 8, missing ? 0 : column.bytes().getLong(from + 8));
                }
            }
        }
    }

    private void writeBytes(int c, ByteBuffer out, int at) {
        int to = at;
        for (int i = 0; i < count(); i++) {
            ArrowColumn column = column(i, c);
            int row = row(i);
            int length = length(column, row);
            if (column.isNull(row)) {
                int width = column.field().type().hasOffsets() ? 0 : length;
                for (int end = to + width; to < end; to++) {
                    out.put(to, (byte) 0);
                }
            } else {
                out.put(to, column.bytes(), column.valuePosition(row), length);
                to += length;
            }
        }
    }

    /** Returns the bytes of a value in the batch. */
    private static int length(ArrowColumn column, int row) {
        return column.field().type().hasOffsets() && column.isNull(row) ? 0 : column.valueLength(row);
    }
}
