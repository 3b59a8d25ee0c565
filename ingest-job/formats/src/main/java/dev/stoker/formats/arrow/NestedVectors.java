package dev.stoker.formats.arrow;

import dev.stoker.formats.ValueSink;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** The vectors of lists, structs and nulls. */
final class NestedVectors {
    private NestedVectors() {}

    /** Lists. */
    abstract static class Lists extends Vec {
        final Vec items;

        Lists(int length, ByteBuffer validity, Vec items) throws IOException {
            super(length, validity);
            this.items = items;
        }

        abstract long start(int index);

        abstract long end(int index);

        /** Returns the first item of a list, after checking both ends. */
        final int from(int index) throws IOException {
            long start = start(index);
            long end = end(index);
            if (start < 0 || end < start || end > items.length) {
                throw new IOException("a list has items " + start + " to " + end + " of " + items.length);
            }
            return (int) start;
        }

        @Override
        void give(int index, ValueSink sink) {
            throw new IllegalStateException("a list is given by its column");
        }
    }

    /** Lists behind offsets. */
    static final class OffsetLists extends Lists {
        private final ArrowVectors.Offsets offsets;

        OffsetLists(int length, ByteBuffer validity, ArrowVectors.Offsets offsets, Vec items) throws IOException {
            super(length, validity, items);
            this.offsets = offsets;
        }

        @Override
        long start(int index) {
            return offsets.get(index);
        }

        @Override
        long end(int index) {
            return offsets.get(index + 1);
        }
    }

    /** Lists with an offset and a size each. */
    static final class ListViews extends Lists {
        private final ArrowVectors.Offsets offsets;
        private final ArrowVectors.Offsets sizes;

        ListViews(int length, ByteBuffer validity, ArrowVectors.Offsets offsets, ArrowVectors.Offsets sizes, Vec items)
                throws IOException {
            super(length, validity, items);
            this.offsets = offsets;
            this.sizes = sizes;
        }

        @Override
        long start(int index) {
            return offsets.get(index);
        }

        @Override
        long end(int index) {
            return offsets.get(index) + sizes.get(index);
        }
    }

    /** Lists of one size. */
    static final class FixedLists extends Lists {
        final int size;

        FixedLists(int length, ByteBuffer validity, int size, Vec items) throws IOException {
            super(length, validity, items);
            this.size = size;
            if ((long) length * size > items.length) {
                throw new IOException(length + " lists of " + size + " items have only " + items.length);
            }
        }

        @Override
        long start(int index) {
            return (long) index * size;
        }

        @Override
        long end(int index) {
            return (index + 1L) * size;
        }
    }

    /** Structs. */
    static final class Structs extends Vec {
        final List<Vec> fields;

        Structs(int length, ByteBuffer validity, List<Vec> fields) throws IOException {
            super(length, validity);
            this.fields = fields;
            for (Vec field : fields) {
                if (field.length < length) {
                    throw new IOException("a struct of " + length + " rows has a field of " + field.length);
                }
            }
        }

        @Override
        void give(int index, ValueSink sink) {
            throw new IllegalStateException("a struct is given by its fields");
        }
    }

    /** Nulls, which have no buffers. */
    static final class Nulls extends Vec {
        Nulls(int length) throws IOException {
            super(length, ByteBuffer.allocate(0));
        }

        @Override
        boolean isNull(int index) {
            return true;
        }

        @Override
        boolean hasNull(int from, int to) {
            return from < to;
        }

        @Override
        void give(int index, ValueSink sink) {
            throw new IllegalStateException("it has no values");
        }
    }
}
