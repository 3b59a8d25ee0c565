package dev.stoker.formats.tfrecord;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads the fields of a protobuf message. Every length is checked against the remaining bytes. Not thread-safe. */
final class ProtoInput {
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH = 2;
    static final int FIXED32 = 5;
    private static final int MAX_FIELD = (1 << 29) - 1;

    /** Thrown if bytes are not a message. The caller turns it into an error that names the file. */
    static final class NotAMessageException extends Exception {
        private static final long serialVersionUID = 1L;

        NotAMessageException(String message) {
            super(message);
        }
    }

    private final ByteBuffer bytes;
    private int field;
    private int wire;

    /** @param bytes the message: from position to limit. The position moves. */
    ProtoInput(ByteBuffer bytes) {
        this.bytes = bytes.order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Moves to the next field, whose value must then be read. Returns false at the end. */
    boolean next() throws NotAMessageException {
        if (!bytes.hasRemaining()) {
            return false;
        }
        long tag = varint();
        wire = (int) tag & 7;
        if (tag < 0 || tag >>> 3 == 0 || tag >>> 3 > MAX_FIELD) {
            throw new NotAMessageException("a field has an impossible number");
        }
        field = (int) (tag >>> 3);
        return true;
    }

    int field() {
        return field;
    }

    int wire() {
        return wire;
    }

    boolean is(int number, int type) {
        return field == number && wire == type;
    }

    long varint() throws NotAMessageException {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (!bytes.hasRemaining()) {
                throw new NotAMessageException("it ends in a number");
            }
            byte b = bytes.get();
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
        }
        throw new NotAMessageException("a number is too long");
    }

    int fixed32() throws NotAMessageException {
        need(4);
        return bytes.getInt();
    }

    /** Returns the bytes of a field with a length. */
    ByteBuffer slice() throws NotAMessageException {
        long length = varint();
        need(length);
        ByteBuffer slice = bytes.slice(bytes.position(), (int) length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.position(bytes.position() + (int) length);
        return slice;
    }

    /** Moves over a field that the reader does not know. */
    void skip() throws NotAMessageException {
        switch (wire) {
            case 0 -> varint();
            case 1 -> skip(8);
            case LENGTH -> slice();
            case 5 -> skip(4);
            default -> throw new NotAMessageException("a field has the unknown kind " + wire);
        }
    }

    private void skip(int count) throws NotAMessageException {
        need(count);
        bytes.position(bytes.position() + count);
    }

    private void need(long count) throws NotAMessageException {
        if (count < 0 || count > bytes.remaining()) {
            throw new NotAMessageException("a value is longer than the message");
        }
    }
}
