package dev.stoker.formats;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** Keeps a value as text, in the form of the files of expected values: see {@code values.py}. */
public final class TextSink implements ValueSink {
    private String text;

    /** Returns the value that was taken last. */
    public String text() {
        return text;
    }

    @Override
    public void setNull() {
        text = null;
    }

    @Override
    public void setLong(long value) {
        text = Long.toString(value);
    }

    @Override
    public void setDouble(double value) {
        text = String.format("%016x", Double.doubleToRawLongBits(value));
    }

    @Override
    public void setDecimal(BigDecimal value) {
        text = value.toPlainString();
    }

    @Override
    public void setBytes(ByteBuffer bytes) {
        text = hex(bytes);
    }

    @Override
    public void setBytesList(List<ByteBuffer> items) {
        text = items.stream().map(TextSink::hex).collect(Collectors.joining(",", "[", "]"));
    }

    @Override
    public void setLists(ByteBuffer items, int[] lengths) {
        text = hex(items) + Arrays.stream(lengths).mapToObj(String::valueOf).collect(Collectors.joining(",", ":", ""));
    }

    private static String hex(ByteBuffer bytes) {
        byte[] copy = new byte[bytes.remaining()];
        bytes.get(bytes.position(), copy);
        return HexFormat.of().formatHex(copy);
    }
}
