package dev.stoker.schemas.arrow;

import dev.stoker.schemas.arrow.types.ArrowField;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.TensorType;
import dev.stoker.schemas.errors.CorruptDataException;
import java.nio.ByteBuffer;

/**
 * Compares the buffers of a column with the metadata of its record batch and reports mismatches. Stateless.
 *
 * @param field the column's description
 * @param file for messages
 */
record ColumnCheck(ArrowField field, RecordBatch batch, String file) {
    void equal(String what, long expected, long found) throws CorruptDataException {
        if (expected != found) {
            throw CorruptDataException.mismatch(file, what + " of column " + field.name(), expected, found);
        }
    }

    void atLeast(String what, long expected, long found) throws CorruptDataException {
        if (found < expected) {
            throw CorruptDataException.mismatch(
                    file, what + " of column " + field.name(), "at least " + expected, found);
        }
    }

    int nulls(int node) throws CorruptDataException {
        long nulls = batch.nullCounts()[node];
        if (nulls > 0 && !field.nullable()) {
            equal("nulls", 0, nulls);
        }
        return (int) nulls;
    }

    int position(int bodyAt, int buffer) {
        return (int) (bodyAt + batch.offsets()[buffer]);
    }

    /** Returns the position of an offsets buffer; -1 if it is empty, which Arrow permits for 0 rows. */
    int offsetsAt(int bodyAt, int buffer, int rows) throws CorruptDataException {
        if (rows == 0 && batch.lengths()[buffer] == 0) {
            return -1;
        }
        atLeast("offset bytes", 4L * (rows + 1L), batch.lengths()[buffer]);
        return position(bodyAt, buffer);
    }

    /** Returns the number of items of a node, after a check that none is null if the type has no null items. */
    int items(int node, FieldType type) throws CorruptDataException {
        if (!type.hasNullItems()) {
            equal("nulls among the items", 0, batch.nullCounts()[node]);
        }
        long items = batch.nodeLengths()[node];
        if (items >= Integer.MAX_VALUE) {
            equal("items", Integer.MAX_VALUE, items);
        }
        return (int) items;
    }

    /** Returns the position of the validity of the items; -1 if none is null. */
    int itemValidity(int node, int buffer, int bodyAt, ByteBuffer bytes) throws CorruptDataException {
        long items = batch.nodeLengths()[node];
        long nulls = batch.nullCounts()[node];
        if (nulls == 0) {
            return -1;
        }
        atLeast("validity bytes of the items", (items + 7) / 8, batch.lengths()[buffer]);
        int at = position(bodyAt, buffer);
        equal("set validity bits of the items", items - nulls, ones(bytes, at, (int) items));
        return at;
    }

    long lastOffset(ByteBuffer bytes, int at, int rows) {
        return at < 0 ? 0 : bytes.getInt(at + 4 * rows);
    }

    /** Returns the last offset, after a check that they ascend. */
    long offsets(ByteBuffer bytes, int at, int rows) throws CorruptDataException {
        if (at < 0) {
            return 0;
        }
        int before = bytes.getInt(at);
        if (before < 0) {
            throw CorruptDataException.mismatch(file, "offset 0 of column " + field.name(), "0", before);
        }
        for (int row = 1; row <= rows; row++) {
            int next = bytes.getInt(at + 4 * row);
            if (next < before) {
                throw CorruptDataException.mismatch(
                        file, "offset " + row + " of column " + field.name(), "at least " + before, next);
            }
            before = next;
        }
        return before;
    }

    void child(int node, FieldType type, long valueBytes) throws CorruptDataException {
        if (!type.hasNullItems()) {
            equal("nulls among the elements", 0, batch.nullCounts()[node]);
        }
        int width = type instanceof TensorType tensor ? tensor.element().width() : type.width();
        long elements = batch.nodeLengths()[node];
        if (elements > Integer.MAX_VALUE) {
            equal("elements", Integer.MAX_VALUE, elements);
        }
        atLeast("value bytes", elements * width, valueBytes);
    }

    /** Returns the number of set bits. */
    static int ones(ByteBuffer bytes, int at, int rows) {
        int set = 0;
        for (int i = 0; i < rows / 8; i++) {
            set += Integer.bitCount(bytes.get(at + i) & 0xFF);
        }
        if (rows % 8 != 0) {
            set += Integer.bitCount(bytes.get(at + rows / 8) & ((1 << (rows % 8)) - 1));
        }
        return set;
    }
}
