package dev.stoker.formats.tfrecord;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/** Writes small files of TFRecord. */
public final class TfRecords {
    private TfRecords() {}

    /** Joins bytes. */
    public static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    /** Returns a record. */
    public static byte[] frame(byte[] data) {
        ByteBuffer out = ByteBuffer.allocate(data.length + 16).order(ByteOrder.LITTLE_ENDIAN);
        out.putLong(data.length);
        out.putInt(crc(out.array(), 0, 8)).put(data);
        return out.putInt(crc(data, 0, data.length)).array();
    }

    static int crc(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return RecordFrames.masked(crc);
    }

    /** Returns a field of protobuf with a length, such as a list. */
    public static byte[] field(int number, byte[]... parts) {
        byte[] value = concat(parts);
        if (value.length > 127) {
            throw new IllegalArgumentException("the field has " + value.length + " bytes; the most are 127");
        }
        return concat(new byte[] {(byte) (number << 3 | 2), (byte) value.length}, value);
    }

    /** Returns a feature of an example. */
    public static byte[] feature(String name, byte[] list) {
        return field(1, field(1, name.getBytes(StandardCharsets.UTF_8)), field(2, list));
    }

    /** Returns a list of small integers. */
    public static byte[] ints(int... values) {
        byte[] packed = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            packed[i] = (byte) values[i];
        }
        return field(3, field(1, packed));
    }

    /** Returns a record with features. */
    public static byte[] example(byte[]... features) {
        return frame(field(1, features));
    }

    /** Returns a list of texts. */
    public static byte[] texts(String... values) {
        byte[] all = {};
        for (String value : values) {
            all = concat(all, field(1, value.getBytes(StandardCharsets.UTF_8)));
        }
        return field(1, all);
    }

    /** Returns a list of numbers. */
    public static byte[] floats(float... values) {
        ByteBuffer packed = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            packed.putFloat(value);
        }
        return field(2, field(1, packed.array()));
    }
}
