package dev.stoker.formats.parquet.page;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/** Decodes PLAIN values. Numbers are copied in bulk, bytes are left where they are. */
final class PlainDecoder implements PageDecoder {
    private final ByteBuffer in;
    private final PrimitiveTypeName type;
    private final int width;
    private int[] ints = new int[0];
    private float[] floats = new float[0];
    private int bit;

    PlainDecoder(ByteBuffer in, Leaf leaf) {
        this.in = in.order(ByteOrder.LITTLE_ENDIAN);
        type = leaf.type().getPrimitiveTypeName();
        width = leaf.width();
    }

    @Override
    public int read(ValueBatch batch, int max) throws IOException {
        if (width > 0) {
            need((long) width * max);
        }
        switch (type) {
            case BOOLEAN -> booleans(batch, max);
            case INT32 -> {
                ints = ints.length == 0 ? new int[ValueBatch.SIZE] : ints;
                in.asIntBuffer().get(ints, 0, max);
                for (int i = 0; i < max; i++) {
                    batch.longs[i] = ints[i];
                }
                in.position(in.position() + 4 * max);
            }
            case INT64 -> {
                in.asLongBuffer().get(batch.longs, 0, max);
                in.position(in.position() + 8 * max);
            }
            case FLOAT -> {
                floats = floats.length == 0 ? new float[ValueBatch.SIZE] : floats;
                in.asFloatBuffer().get(floats, 0, max);
                for (int i = 0; i < max; i++) {
                    batch.doubles[i] = floats[i];
                }
                in.position(in.position() + 4 * max);
            }
            case DOUBLE -> {
                in.asDoubleBuffer().get(batch.doubles, 0, max);
                in.position(in.position() + 8 * max);
            }
            case INT96, FIXED_LEN_BYTE_ARRAY -> fixed(batch, max);
            case BINARY -> binaries(batch, max);
        }
        return max;
    }

    @Override
    public void readPlain(ByteBuffer dst, int count, ScratchBuffers scratch) throws IOException {
        dst.put(slicePlain(count));
    }

    @Override
    public ByteBuffer slicePlain(int count) throws IOException {
        need((long) width * count);
        ByteBuffer values = in.slice(in.position(), width * count);
        in.position(in.position() + width * count);
        return values;
    }

    @Override
    public void end() throws IOException {
        PageDecoder.requireEnd(in.remaining() - (bit > 0 ? 1 : 0));
    }

    private void booleans(ValueBatch batch, int max) throws IOException {
        for (int i = 0; i < max; i++) {
            need(1);
            batch.longs[i] = ((long) in.get(in.position()) >>> bit) & 1;
            if (++bit == 8) {
                bit = 0;
                in.position(in.position() + 1);
            }
        }
    }

    private void fixed(ValueBatch batch, int max) {
        batch.bytes = in.array();
        int at = in.arrayOffset() + in.position();
        for (int i = 0; i < max; i++) {
            batch.offsets[i] = at + i * width;
            batch.lengths[i] = width;
        }
        in.position(in.position() + width * max);
    }

    private void binaries(ValueBatch batch, int max) throws IOException {
        batch.bytes = in.array();
        for (int i = 0; i < max; i++) {
            need(4);
            int length = in.getInt();
            need(length < 0 ? Long.MAX_VALUE : length);
            batch.offsets[i] = in.arrayOffset() + in.position();
            batch.lengths[i] = length;
            in.position(in.position() + length);
        }
    }

    private void need(long bytes) throws IOException {
        if (in.remaining() < bytes) {
            throw new IOException("its values end too early");
        }
    }
}
