package dev.stoker.formats.parquet.page;

import org.apache.parquet.schema.PrimitiveType;

/**
 * A primitive column of a file.
 *
 * @param index its number among the column chunks of a row group
 * @param name dotted name, for messages
 * @param type its type
 * @param maxDefinition definition level of a value
 * @param maxRepetition number of lists around a value
 */
public record Leaf(int index, String name, PrimitiveType type, int maxDefinition, int maxRepetition) {
    public ValueBatch.Physical physical() {
        return switch (type.getPrimitiveTypeName()) {
            case BOOLEAN, INT32, INT64 -> ValueBatch.Physical.LONG;
            case FLOAT, DOUBLE -> ValueBatch.Physical.DOUBLE;
            case BINARY, FIXED_LEN_BYTE_ARRAY, INT96 -> ValueBatch.Physical.BYTES;
        };
    }

    /** Returns the bytes of a value in PLAIN encoding; 0 for BOOLEAN and for BINARY. */
    public int width() {
        return switch (type.getPrimitiveTypeName()) {
            case BOOLEAN, BINARY -> 0;
            case INT32, FLOAT -> 4;
            case INT64, DOUBLE -> 8;
            case INT96 -> 12;
            case FIXED_LEN_BYTE_ARRAY -> type.getTypeLength();
        };
    }
}
