package dev.stoker.formats.parquet.page;

/**
 * Decoded values of a column without nulls. A column uses the array of its physical type: {@code longs} for BOOLEAN,
 * INT32 and INT64, {@code doubles} for FLOAT and DOUBLE, and otherwise slices of {@code bytes}.
 */
public final class ValueBatch {
    static final int SIZE = 2048;

    public final long[] longs;
    public final double[] doubles;
    public final int[] offsets;
    public final int[] lengths;
    public byte[] bytes = new byte[0];

    public ValueBatch(Physical physical) {
        longs = new long[physical == Physical.LONG ? SIZE : 0];
        doubles = new double[physical == Physical.DOUBLE ? SIZE : 0];
        offsets = new int[physical == Physical.BYTES ? SIZE : 0];
        lengths = new int[physical == Physical.BYTES ? SIZE : 0];
    }

    /** The array that holds the values of a column. */
    enum Physical {
        LONG,
        DOUBLE,
        BYTES
    }
}
