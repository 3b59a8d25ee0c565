package dev.stoker.formats;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Writes small tar archives, also wrong ones. */
public final class Tars {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    /** Adds a file. */
    public Tars file(String name, String content) {
        return member(name, '0', content.getBytes(StandardCharsets.UTF_8));
    }

    /** Adds a member of any type. */
    public Tars member(String name, char type, byte[] content) {
        return header(name, type, content.length).content(content);
    }

    /** Adds a header alone. */
    public Tars header(String name, char type, long size) {
        byte[] block = new byte[512];
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, block, 0, Math.min(100, bytes.length));
        put(block, 124, String.format(Locale.ROOT, "%011o", size));
        block[156] = (byte) type;
        put(block, 257, "ustar");
        put(block, 263, "00");
        Arrays.fill(block, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte b : block) {
            sum += b & 0xff;
        }
        put(block, 148, String.format(Locale.ROOT, "%06o\0 ", sum));
        out.writeBytes(block);
        return this;
    }

    private static void put(byte[] block, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, block, at, bytes.length);
    }

    /** Adds content with its padding. */
    public Tars content(byte[] content) {
        out.writeBytes(content);
        out.writeBytes(new byte[-content.length & 511]);
        return this;
    }

    /** Returns the archive with its end. */
    public byte[] bytes() {
        byte[] open = open();
        return Arrays.copyOf(open, open.length + 1024);
    }

    /** Returns the archive without its end. */
    public byte[] open() {
        return out.toByteArray();
    }
}
