package dev.stoker.formats.parquet.column;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import dev.stoker.formats.parquet.page.ValueBatch;
import dev.stoker.schemas.arrow.types.HalfFloats;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** The conversions of values. */
public final class Scalars {
    private static final long JULIAN_DAY_OF_1970 = 2_440_588;

    private Scalars() {}

    /** Integers, dates, times, timestamps and bools. */
    static final class Integers extends Scalar {
        private final long mask;

        /** @param mask the bits that count: the low 32 for a uint32, otherwise all */
        Integers(long mask) {
            this.mask = mask;
        }

        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            sink.setLong(batch.longs[index] & mask);
        }

        @Override
        public void append(ValueBatch batch, int index, NumberWriter list) throws BadValueException {
            list.addLong(batch.longs[index] & mask);
        }
    }

    /** UNKNOWN, a type without values. */
    public static final class Nothing extends Scalar {
        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            throw new BadValueException("a value of type null is not null");
        }

        @Override
        public void append(ValueBatch batch, int index, NumberWriter list) throws BadValueException {
            throw new BadValueException("an item of type null is not null");
        }
    }

    /** FLOAT and DOUBLE. */
    static final class Floats extends Scalar {
        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            sink.setDouble(batch.doubles[index]);
        }

        @Override
        public void append(ValueBatch batch, int index, NumberWriter list) throws BadValueException {
            list.addDouble(batch.doubles[index]);
        }
    }

    /** FIXED_LEN_BYTE_ARRAY(2) with FLOAT16. */
    static final class Halves extends Scalar {
        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            sink.setDouble(HalfFloats.fromFloat16(bits(batch, index)));
        }

        @Override
        public void append(ValueBatch batch, int index, NumberWriter list) throws BadValueException {
            list.addBits(bits(batch, index));
        }

        private static short bits(ValueBatch batch, int index) {
            int at = batch.offsets[index];
            return (short) ((batch.bytes[at] & 0xff) | batch.bytes[at + 1] << 8);
        }
    }

    /** Text and bytes. */
    public static final class Bytes extends Scalar {
        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            sink.setBytes(bytes(batch, index));
        }
    }

    /** UUIDs as text. */
    static final class Uuids extends Scalar {
        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            sink.setBytes(bytes(batch, index));
        }

        @Override
        public ByteBuffer bytes(ValueBatch batch, int index) {
            ByteBuffer raw = super.bytes(batch, index);
            String text = new UUID(raw.getLong(raw.position()), raw.getLong(raw.position() + 8)).toString();
            return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** Decimals in INT32 and INT64. */
    static final class SmallDecimals extends Scalar {
        private final int scale;

        SmallDecimals(int scale) {
            this.scale = scale;
        }

        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            sink.setDecimal(BigDecimal.valueOf(batch.longs[index], scale));
        }
    }

    /** Decimals in BINARY and FIXED_LEN_BYTE_ARRAY, big-endian. */
    static final class BigDecimals extends Scalar {
        private final int scale;

        BigDecimals(int scale) {
            this.scale = scale;
        }

        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            int length = batch.lengths[index];
            if (length == 0) {
                throw new BadValueException("the decimal has no bytes");
            }
            BigInteger unscaled = new BigInteger(batch.bytes, batch.offsets[index], length);
            sink.setDecimal(new BigDecimal(unscaled, scale));
        }
    }

    /** INT96: nanoseconds of the day, and the Julian day. */
    static final class Int96 extends Scalar {
        @Override
        public void give(ValueBatch batch, int index, ValueSink sink) throws BadValueException {
            ByteBuffer raw = bytes(batch, index).order(ByteOrder.LITTLE_ENDIAN);
            long nanos = raw.getLong(raw.position());
            long day = raw.getInt(raw.position() + 8) - JULIAN_DAY_OF_1970;
            sink.setInstant(day, nanos);
        }
    }
}
