package dev.stoker.formats.tfrecord;

import dev.stoker.formats.BadValueException;
import dev.stoker.formats.tfrecord.ProtoInput.NotAMessageException;
import dev.stoker.formats.values.NumberList;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The values of a feature in one record: a list of one kind.
 *
 * @param kind the kind
 * @param list the message of the list
 * @param count number of values
 */
record ExampleFeature(Kind kind, ByteBuffer list, int count) {
    /** Kinds of values, in the order of the fields of the message {@code ExampleFeature}, from 1 on. */
    enum Kind {
        BYTES("bytes"),
        FLOAT("float"),
        INT64("int64");

        private final String words;

        Kind(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    /** Reads a message {@code ExampleFeature}. Returns null if it has no values of any kind. */
    static @Nullable ExampleFeature parse(ByteBuffer message) throws NotAMessageException {
        ProtoInput in = new ProtoInput(message);
        ExampleFeature feature = null;
        while (in.next()) {
            if (in.wire() != ProtoInput.LENGTH || in.field() > Kind.values().length || feature != null) {
                throw new NotAMessageException("a feature is not a list of bytes, floats or int64");
            }
            Kind kind = Kind.values()[in.field() - 1];
            ByteBuffer list = in.slice();
            feature = new ExampleFeature(kind, list, count(kind, list));
        }
        return feature;
    }

    private static int count(Kind kind, ByteBuffer list) throws NotAMessageException {
        ProtoInput in = new ProtoInput(list.duplicate());
        int count = 0;
        while (in.next()) {
            boolean packed = in.wire() == ProtoInput.LENGTH;
            if (in.field() != 1) {
                throw new NotAMessageException("a list has an unknown field");
            }
            if (packed) {
                count += valuesIn(kind, in.slice());
            } else if (kind == Kind.FLOAT && in.wire() == ProtoInput.FIXED32) {
                in.fixed32();
                count++;
            } else if (kind == Kind.INT64 && in.wire() == ProtoInput.VARINT) {
                in.varint();
                count++;
            } else {
                throw new NotAMessageException("a list of " + kind + " has other values");
            }
        }
        return count;
    }

    private static int valuesIn(Kind kind, ByteBuffer packed) throws NotAMessageException {
        if (kind == Kind.BYTES) {
            return 1;
        }
        if (kind == Kind.FLOAT) {
            if (packed.remaining() % Float.BYTES != 0) {
                throw new NotAMessageException("a list of floats has " + packed.remaining() + " bytes");
            }
            return packed.remaining() / Float.BYTES;
        }
        ProtoInput numbers = new ProtoInput(packed);
        int count = 0;
        for (; packed.hasRemaining(); count++) {
            numbers.varint();
        }
        return count;
    }

    /** Returns the items of a list of bytes. */
    List<ByteBuffer> items() {
        List<ByteBuffer> items = new ArrayList<>(count);
        try {
            ProtoInput in = new ProtoInput(list.duplicate());
            while (in.next()) {
                items.add(in.slice());
            }
        } catch (NotAMessageException e) {
            throw checkedBefore(e);
        }
        return items;
    }

    /** Returns the numbers of a list of floats as they are in the record, or null if they are not in one run. */
    @Nullable
    ByteBuffer packedFloats() {
        try {
            ProtoInput in = new ProtoInput(list.duplicate());
            if (kind != Kind.FLOAT || !in.next() || in.wire() != ProtoInput.LENGTH) {
                return null;
            }
            ByteBuffer packed = in.slice();
            return packed.remaining() == Float.BYTES * count ? packed : null;
        } catch (NotAMessageException e) {
            throw checkedBefore(e);
        }
    }

    /** Adds the numbers of a list of floats or int64. */
    void addTo(NumberList numbers) throws BadValueException {
        try {
            ProtoInput in = new ProtoInput(list.duplicate());
            while (in.next()) {
                if (in.wire() == ProtoInput.LENGTH) {
                    ByteBuffer packed = in.slice();
                    ProtoInput values = new ProtoInput(packed);
                    while (packed.hasRemaining()) {
                        add(values, numbers);
                    }
                } else {
                    add(in, numbers);
                }
            }
        } catch (NotAMessageException e) {
            throw checkedBefore(e);
        }
    }

    private void add(ProtoInput value, NumberList numbers) throws NotAMessageException, BadValueException {
        if (kind == Kind.FLOAT) {
            numbers.add((double) Float.intBitsToFloat(value.fixed32()));
        } else {
            numbers.add(value.varint());
        }
    }

    private static IllegalStateException checkedBefore(NotAMessageException e) {
        return new IllegalStateException("the list was checked when it was counted", e);
    }
}
