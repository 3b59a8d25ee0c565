package dev.stoker.server;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A batch message of {@link TestDataset}'s fields, written down straight from the format's description. */
public final class NaiveBatch {
    private NaiveBatch() {}

    public static ByteBuffer of(List<TestDataset.Sample> samples, List<String> classes) {
        int rows = samples.size();
        boolean nulls = samples.stream().anyMatch(s -> s.score() == null);
        int keyBytes = samples.stream().mapToInt(s -> utf8(s.key()).length).sum();
        int imageBytes = samples.stream().mapToInt(s -> s.image().length).sum();
        // key: validity, offsets, values; label: validity, values; score: validity, values; image: validity, offsets,
        // values
        int[] lengths = {
            0,
            4 * (rows + 1),
            keyBytes,
            0,
            4 * rows,
            nulls ? (rows + 7) / 8 : 0,
            4 * rows,
            0,
            4 * (rows + 1),
            imageBytes
        };
        long[] offsets = new long[lengths.length];
        long end = 0;
        for (int b = 0; b < lengths.length; b++) {
            offsets[b] = end;
            end += pad(lengths[b]);
        }
        int n = 4;
        int b = lengths.length;
        int head = pad(8 + 104 + 16 * n + 16 * b);
        ByteBuffer out = ByteBuffer.allocate(head + (int) end).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt(-1).putInt(head - 8);
        out.putInt(24).putInt(0);
        shorts(out, 12, 24, 16, 18, 4, 8, 0, 0);
        out.putInt(16).putInt(36).putLong(end).putShort((short) 4).put((byte) 3).put(new byte[5]);
        shorts(out, 10, 24, 8, 4, 16, 0, 0, 0);
        out.putInt(16)
                .putInt(24)
                .putLong(rows)
                .putInt(20 + 16 * n)
                .putInt(0)
                .putInt(0)
                .putInt(n);
        long nullCount = samples.stream().filter(s -> s.score() == null).count();
        for (long nullsOf : new long[] {0, 0, nullCount, 0}) {
            out.putLong(rows).putLong(nullsOf);
        }
        out.putInt(0).putInt(b);
        for (int i = 0; i < b; i++) {
            out.putLong(offsets[i]).putLong(lengths[i]);
        }
        List<byte[]> keys = new ArrayList<>();
        List<byte[]> images = new ArrayList<>();
        for (int i = 0; i < rows; i++) {
            TestDataset.Sample sample = samples.get(i);
            keys.add(utf8(sample.key()));
            images.add(sample.image());
            out.putInt(head + (int) offsets[4] + 4 * i, classes.indexOf(sample.label()));
            if (sample.score() != null) {
                out.putFloat(head + (int) offsets[6] + 4 * i, sample.score());
                if (nulls) {
                    int at = head + (int) offsets[5] + i / 8;
                    out.put(at, (byte) (out.get(at) | 1 << i % 8));
                }
            }
        }
        variable(out, head + (int) offsets[1], head + (int) offsets[2], keys);
        variable(out, head + (int) offsets[8], head + (int) offsets[9], images);
        return out.clear();
    }

    private static void variable(ByteBuffer out, int offsetsAt, int valuesAt, List<byte[]> values) {
        int at = 0;
        for (int i = 0; i < values.size(); i++) {
            out.putInt(offsetsAt + 4 * i, at);
            out.put(valuesAt + at, values.get(i));
            at += values.get(i).length;
        }
        out.putInt(offsetsAt + 4 * values.size(), at);
    }

    private static void shorts(ByteBuffer out, int... values) {
        for (int value : values) {
            out.putShort((short) value);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static int pad(int length) {
        return (length + 63) / 64 * 64;
    }
}
