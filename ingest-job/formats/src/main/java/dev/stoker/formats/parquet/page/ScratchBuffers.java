package dev.stoker.formats.parquet.page;

import java.nio.ByteBuffer;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** Memory for decoding numbers of one physical type, shared by the columns of a reader. For one thread. */
public final class ScratchBuffers {
    private final PrimitiveTypeName type;
    private final ValueBatch batch;
    private final int[] ints;
    private final float[] floats;

    /** @param type INT32, INT64, FLOAT or DOUBLE */
    public ScratchBuffers(PrimitiveTypeName type) {
        this.type = type;
        boolean isReal = type == PrimitiveTypeName.FLOAT || type == PrimitiveTypeName.DOUBLE;
        batch = new ValueBatch(isReal ? ValueBatch.Physical.DOUBLE : ValueBatch.Physical.LONG);
        ints = new int[type == PrimitiveTypeName.INT32 ? ValueBatch.SIZE : 0];
        floats = new float[type == PrimitiveTypeName.FLOAT ? ValueBatch.SIZE : 0];
    }

    ValueBatch batch() {
        return batch;
    }

    /** Writes the first values of a batch as in PLAIN encoding, at the position of a little-endian buffer. */
    public void put(ValueBatch values, int count, ByteBuffer dst) {
        switch (type) {
            case INT32 -> {
                for (int i = 0; i < count; i++) {
                    ints[i] = (int) values.longs[i];
                }
                dst.asIntBuffer().put(ints, 0, count);
                dst.position(dst.position() + 4 * count);
            }
            case INT64 -> {
                dst.asLongBuffer().put(values.longs, 0, count);
                dst.position(dst.position() + 8 * count);
            }
            case FLOAT -> {
                for (int i = 0; i < count; i++) {
                    floats[i] = (float) values.doubles[i];
                }
                dst.asFloatBuffer().put(floats, 0, count);
                dst.position(dst.position() + 4 * count);
            }
            case DOUBLE -> {
                dst.asDoubleBuffer().put(values.doubles, 0, count);
                dst.position(dst.position() + 8 * count);
            }
            default -> throw new IllegalStateException("values of " + type + " have no scratch");
        }
    }
}
