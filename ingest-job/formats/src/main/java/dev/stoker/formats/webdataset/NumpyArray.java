package dev.stoker.formats.webdataset;

import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.values.NumberBytes;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Writes NumPy's format {@code .npy}, version 1.0.
 *
 * <pre>
 * 93 NUMPY 01 00 | u16 length of the header | header, spaces and LF to a multiple of 64 | values, little-endian
 * </pre>
 */
final class NumpyArray {
    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    private static final int ALIGNMENT = 64;

    private NumpyArray() {}

    /** Returns a file. NumPy has no bfloat16, so it becomes float32. */
    static byte[] of(ScalarType element, List<Integer> shape, ByteBuffer values) {
        String header = "{'descr': '" + descriptor(element) + "', 'fortran_order': False, 'shape': ("
                + shape.stream().map(size -> size + ",").collect(Collectors.joining(" ")) + "), }";
        int unpadded = MAGIC.length + Short.BYTES + header.length() + 1;
        int padding = -unpadded & (ALIGNMENT - 1);
        ByteArrayOutputStream out = new ByteArrayOutputStream(unpadded + padding + 2 * values.limit());
        out.writeBytes(MAGIC);
        int length = header.length() + padding + 1;
        out.write(length);
        out.write(length >>> 8);
        out.writeBytes((header + " ".repeat(padding) + "\n").getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(element == ScalarType.BFLOAT16 ? widened(values) : bytes(values));
        return out.toByteArray();
    }

    private static String descriptor(ScalarType element) {
        if (element.isFloat()) {
            return "<f" + (element == ScalarType.BFLOAT16 ? 4 : element.width());
        }
        String kind = element.canonical().startsWith("u") ? "u" : "i";
        return (element.width() == 1 ? "|" : "<") + kind + element.width();
    }

    private static byte[] bytes(ByteBuffer values) {
        byte[] copy = new byte[values.remaining()];
        values.get(values.position(), copy);
        return copy;
    }

    private static byte[] widened(ByteBuffer values) {
        ByteBuffer wide = ByteBuffer.allocate(2 * values.limit()).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0; at < values.limit(); at += Short.BYTES) {
            wide.putFloat((float) NumberBytes.floatAt(ScalarType.BFLOAT16, values, at));
        }
        return wide.array();
    }
}
