package dev.stoker.ingest.rows.read;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The keys of rows that are named by their position: the path of the file, {@code #} and a number. For one thread. */
public final class PositionKeys {
    private byte[] texts = new byte[0];
    private int[] ends = new int[0];

    /** Makes the keys of consecutive rows. */
    public void make(String path, long position, int count) {
        byte[] key = of(path, position).getBytes(StandardCharsets.UTF_8);
        int number = key.length - Long.toString(position).length();
        if (ends.length < count) {
            ends = new int[count];
        }
        int end = 0;
        for (int row = 0; row < count; row++) {
            if (end > texts.length - key.length) {
                texts = Arrays.copyOf(texts, Math.max(end + key.length, Math.multiplyExact(count, key.length + 1)));
            }
            System.arraycopy(key, 0, texts, end, key.length);
            end += key.length;
            ends[row] = end;
            key = next(key, number);
        }
    }

    /** Returns the key of a row. */
    public static String of(String path, long position) {
        return path + "#" + position;
    }

    /** Adds 1 to the decimal number at the end of a key, in place if it gets no further digit. */
    private static byte[] next(byte[] key, int number) {
        int digit = key.length - 1;
        while (digit >= number && key[digit] == '9') {
            key[digit--] = '0';
        }
        if (digit >= number) {
            key[digit]++;
            return key;
        }
        byte[] longer = Arrays.copyOf(key, key.length + 1);
        longer[number] = '1';
        longer[key.length] = '0';
        return longer;
    }

    /** Returns the last keys, one after the other. */
    public byte[] texts() {
        return texts;
    }

    /** Returns the end of each of them. */
    public int[] ends() {
        return ends;
    }
}
