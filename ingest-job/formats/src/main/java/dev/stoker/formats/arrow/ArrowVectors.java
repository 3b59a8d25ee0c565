package dev.stoker.formats.arrow;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ValueSink;
import dev.stoker.schemas.arrow.types.HalfFloats;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;

/** The vectors of each layout. Buffers are little-endian, and begin at position 0. */
final class ArrowVectors {
    private static final long MS_PER_DAY = 86_400_000;

    private ArrowVectors() {}

    /** Bools. */
    static final class Bits extends Vec {
        private final ByteBuffer data;

        Bits(int length, ByteBuffer validity, ByteBuffer data) throws IOException {
            super(length, validity);
            need(data, (length + 7L) / 8);
            this.data = data;
        }

        private long value(int index) {
            long bits = data.get(index >>> 3);
            return bits >>> (index & 7) & 1;
        }

        @Override
        void give(int index, ValueSink sink) throws BadValueException {
            sink.setLong(value(index));
        }

        @Override
        void append(int index, NumberWriter list) throws BadValueException {
            list.addLong(value(index));
        }
    }

    /** Integers, dates, times and timestamps. */
    static class Integers extends Vec {
        final ByteBuffer data;
        private final int width;
        private final boolean signed;

        Integers(int length, ByteBuffer validity, ByteBuffer data, int width, boolean signed) throws IOException {
            super(length, validity);
            need(data, (long) length * width);
            this.data = data;
            this.width = width;
            this.signed = signed;
        }

        final long value(int index) {
            return switch (width) {
                case 1 -> signed ? data.get(index) : data.get(index) & 0xff;
                case 2 -> signed ? data.getShort(2 * index) : data.getShort(2 * index) & 0xffff;
                case 4 -> signed ? data.getInt(4 * index) : data.getInt(4 * index) & 0xffffffffL;
                default -> data.getLong(8 * index);
            };
        }

        @Override
        void give(int index, ValueSink sink) throws BadValueException {
            sink.setLong(value(index));
        }

        @Override
        void append(int index, NumberWriter list) throws BadValueException {
            list.addLong(value(index));
        }

        @Override
        ByteBuffer numbers(int from, int to) {
            return data.slice(from * width, (to - from) * width);
        }
    }

    /** Dates in milliseconds. */
    static final class DatesInMs extends Integers {
        DatesInMs(int length, ByteBuffer validity, ByteBuffer data) throws IOException {
            super(length, validity, data, 8, true);
        }

        @Override
        void give(int index, ValueSink sink) throws BadValueException {
            long ms = value(index);
            if (ms % MS_PER_DAY != 0) {
                throw new BadValueException(ms + " ms since 1970 is not the beginning of a day");
            }
            sink.setLong(ms / MS_PER_DAY);
        }
    }

    /** Floating-point numbers. */
    static final class Floats extends Vec {
        private final ByteBuffer data;
        private final int width;

        Floats(int length, ByteBuffer validity, ByteBuffer data, int width) throws IOException {
            super(length, validity);
            need(data, (long) length * width);
            this.data = data;
            this.width = width;
        }

        @Override
        void give(int index, ValueSink sink) throws BadValueException {
            sink.setDouble(
                    switch (width) {
                        case 2 -> HalfFloats.fromFloat16(data.getShort(2 * index));
                        case 4 -> data.getFloat(4 * index);
                        default -> data.getDouble(8 * index);
                    });
        }

        @Override
        void append(int index, NumberWriter list) throws BadValueException {
            list.addBits(
                    switch (width) {
                        case 2 -> data.getShort(2 * index);
                        case 4 -> data.getInt(4 * index);
                        default -> data.getLong(8 * index);
                    });
        }

        @Override
        ByteBuffer numbers(int from, int to) {
            return data.slice(from * width, (to - from) * width);
        }
    }

    /** Decimals of any width. */
    static final class Decimals extends Vec {
        private final ByteBuffer data;
        private final int width;
        private final int scale;

        Decimals(int length, ByteBuffer validity, ByteBuffer data, int width, int scale) throws IOException {
            super(length, validity);
            need(data, (long) length * width);
            this.data = data;
            this.width = width;
            this.scale = scale;
        }

        @Override
        void give(int index, ValueSink sink) throws BadValueException {
            byte[] bigEndian = new byte[width];
            for (int i = 0; i < width; i++) {
                bigEndian[i] = data.get(index * width + width - 1 - i);
            }
            sink.setDecimal(new BigDecimal(new BigInteger(bigEndian), scale));
        }
    }

    /** Text and bytes. */
    abstract static class Bytes extends Vec {
        Bytes(int length, ByteBuffer validity) throws IOException {
            super(length, validity);
        }

        @Override
        void give(int index, ValueSink sink) throws IOException, BadValueException {
            sink.setBytes(bytes(index));
        }

        static ByteBuffer part(ByteBuffer data, long from, long to) throws IOException {
            if (from < 0 || from > to || to > data.limit()) {
                throw new IOException(
                        "a value is at bytes " + from + " to " + to + " of a buffer of " + data.limit() + " bytes");
            }
            return data.duplicate().position((int) from).limit((int) to);
        }
    }

    /** Text and bytes behind offsets of 4 or 8 bytes. */
    static final class OffsetBytes extends Bytes {
        private final Offsets offsets;
        private final ByteBuffer data;

        OffsetBytes(int length, ByteBuffer validity, Offsets offsets, ByteBuffer data) throws IOException {
            super(length, validity);
            this.offsets = offsets;
            this.data = data;
        }

        @Override
        ByteBuffer bytes(int index) throws IOException {
            return part(data, offsets.get(index), offsets.get(index + 1));
        }
    }

    /** Bytes of one width. */
    static final class FixedBytes extends Bytes {
        private final ByteBuffer data;
        private final int width;

        FixedBytes(int length, ByteBuffer validity, ByteBuffer data, int width) throws IOException {
            super(length, validity);
            need(data, (long) length * width);
            this.data = data;
            this.width = width;
        }

        @Override
        ByteBuffer bytes(int index) throws IOException {
            return part(data, (long) index * width, (index + 1L) * width);
        }
    }

    /** UUIDs as text. */
    static final class Uuids extends Bytes {
        private final FixedBytes raw;

        Uuids(int length, ByteBuffer validity, ByteBuffer data) throws IOException {
            super(length, validity);
            raw = new FixedBytes(length, validity, data, 16);
        }

        @Override
        ByteBuffer bytes(int index) throws IOException {
            ByteBuffer value = raw.bytes(index); // big-endian, as duplicates are
            String text = new UUID(value.getLong(), value.getLong()).toString();
            return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        }
    }

    /** Text and bytes in views: a length, then 12 bytes, or a prefix, the number of a buffer and an offset. */
    static final class Views extends Bytes {
        private static final int WIDTH = 16;
        private static final int INLINE = 12;

        private final ByteBuffer views;
        private final List<ByteBuffer> buffers;

        Views(int length, ByteBuffer validity, ByteBuffer views, List<ByteBuffer> buffers) throws IOException {
            super(length, validity);
            need(views, (long) length * WIDTH);
            this.views = views;
            this.buffers = buffers;
        }

        @Override
        ByteBuffer bytes(int index) throws IOException {
            int at = index * WIDTH;
            int size = views.getInt(at);
            if (size >= 0 && size <= INLINE) {
                return part(views, at + 4L, at + 4L + size);
            }
            int number = views.getInt(at + 8);
            if (size < 0 || number < 0 || number >= buffers.size()) {
                throw new IOException("a view has " + size + " bytes in buffer " + number + " of " + buffers.size());
            }
            long from = views.getInt(at + 12);
            return part(buffers.get(number), from, from + size);
        }
    }

    /** Offsets of 4 or 8 bytes. */
    record Offsets(ByteBuffer data, int width) {
        Offsets {
            if (data.limit() % width != 0) {
                data = data.slice(0, data.limit() / width * width).order(data.order());
            }
        }

        static Offsets of(ByteBuffer data, int width, int count) throws IOException {
            if (count > 1) {
                Vec.need(data, (long) count * width);
            }
            return new Offsets(data, width);
        }

        long get(int index) {
            return width == 4 ? data.getInt(4 * index) : data.getLong(8 * index);
        }
    }

    /** Values in a dictionary, which may have grown by deltas. */
    static final class Encoded extends Vec {
        private final Integers indexes;
        private final List<Vec> parts;

        Encoded(Integers indexes, ByteBuffer validity, List<Vec> parts) throws IOException {
            super(indexes.length, validity);
            this.indexes = indexes;
            this.parts = parts;
        }

        private interface Use {
            void with(Vec part, int index) throws IOException, BadValueException;
        }

        private void find(int index, Use use) throws IOException, BadValueException {
            long id = indexes.value(index);
            long left = id;
            for (Vec part : parts) {
                if (left >= 0 && left < part.length) {
                    use.with(part, (int) left);
                    return;
                }
                left -= part.length;
            }
            throw new IOException("index " + id + " is beyond its dictionary");
        }

        @Override
        boolean isNull(int index) {
            if (super.isNull(index)) {
                return true;
            }
            long left = indexes.value(index);
            for (Vec part : parts) {
                if (left >= 0 && left < part.length) {
                    return part.isNull((int) left);
                }
                left -= part.length;
            }
            return false;
        }

        @Override
        void give(int index, ValueSink sink) throws IOException, BadValueException {
            find(index, (part, at) -> part.give(at, sink));
        }

        @Override
        void append(int index, NumberWriter list) throws IOException, BadValueException {
            find(index, (part, at) -> part.append(at, list));
        }

        @Override
        ByteBuffer bytes(int index) throws IOException {
            ByteBuffer[] found = new ByteBuffer[1];
            try {
                find(index, (part, at) -> found[0] = part.bytes(at));
            } catch (BadValueException e) {
                throw new IllegalStateException(e);
            }
            return found[0];
        }
    }
}
