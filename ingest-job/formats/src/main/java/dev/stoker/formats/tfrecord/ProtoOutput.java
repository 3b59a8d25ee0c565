package dev.stoker.formats.tfrecord;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Collects the bytes of a protobuf message. For one thread. */
final class ProtoOutput {
    private byte[] bytes = new byte[1024];
    private int length;

    void clear() {
        length = 0;
    }

    int length() {
        return length;
    }

    byte[] array() {
        return bytes;
    }

    void varint(long value) {
        room(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[length++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[length++] = (byte) rest;
    }

    void fixed32(int value) {
        room(4);
        for (int shift = 0; shift < 32; shift += 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
    }

    /** Adds the tag of a field with a length. */
    void lengthTag(int field) {
        varint(field << 3 | 2);
    }

    void add(ByteBuffer value) {
        int count = value.remaining();
        room(count);
        value.get(value.position(), bytes, length, count);
        length += count;
    }

    void add(byte[] value) {
        add(ByteBuffer.wrap(value));
    }

    /** Adds a field that is another message. */
    void message(int field, ProtoOutput message) {
        lengthTag(field);
        varint(message.length);
        add(ByteBuffer.wrap(message.bytes, 0, message.length));
    }

    private void room(int count) {
        if (bytes.length - length < count) {
            bytes = Arrays.copyOf(bytes, (int)
                    Math.min(Integer.MAX_VALUE - 64, Math.max(length + (long) count, bytes.length * 2L)));
        }
    }
}
