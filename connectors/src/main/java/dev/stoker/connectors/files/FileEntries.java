package dev.stoker.connectors.files;

import java.util.Arrays;
import java.util.List;

/**
 * The entries of a bundle. Per entry: length of the key, key, size, time of the last change, number of sidecars, per
 * sidecar its size + 1 (0: there is none). Numbers are LEB128, the time zigzag.
 */
public final class FileEntries {

    private static final long[] NO_SIDECARS = {};

    private final byte[] data;
    private int at;

    private FileEntries(byte[] data) {
        this.data = data;
    }

    /** Appends the files of a bundle to a list. */
    public static void decode(PathBundle bundle, List<FileEntry> files) {
        FileEntries entries = new FileEntries(bundle.data());
        while (entries.at < entries.data.length) {
            files.add(entries.next());
        }
    }

    private FileEntry next() {
        int length = (int) number();
        byte[] key = Arrays.copyOfRange(data, at, at + length);
        at += length;
        long size = number();
        long zigzag = number();
        int count = (int) number();
        long[] sidecars = count == 0 ? NO_SIDECARS : new long[count];
        for (int i = 0; i < count; i++) {
            sidecars[i] = number() - 1;
        }
        return new FileEntry(key, size, zigzag >>> 1 ^ -(zigzag & 1), sidecars);
    }

    private long number() {
        long value = 0;
        int shift = 0;
        while (true) {
            byte b = data[at++];
            value |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return value;
            }
            shift += 7;
        }
    }

    /** Collects entries. For one thread. */
    public static final class Writer {

        private byte[] data;
        private int length;
        private int count;
        private long bytes;

        public Writer(int capacity) {
            data = new byte[capacity];
        }

        public int length() {
            return length;
        }

        public int count() {
            return count;
        }

        /** Sum of the files' sizes. */
        public long bytes() {
            return bytes;
        }

        public void add(byte[] key, int keyLength, long size, long modifiedMs, long[] sidecars) {
            int need = keyLength + 10 * (4 + sidecars.length);
            if (data.length - length < need) {
                data = Arrays.copyOf(data, Math.max(2 * data.length, length + need));
            }
            count++;
            bytes += size;
            number(keyLength);
            System.arraycopy(key, 0, data, length, keyLength);
            length += keyLength;
            number(size);
            number(modifiedMs << 1 ^ modifiedMs >> 63);
            number(sidecars.length);
            for (long sidecar : sidecars) {
                number(sidecar + 1);
            }
        }

        public byte[] take() {
            byte[] taken = Arrays.copyOf(data, length);
            length = 0;
            count = 0;
            bytes = 0;
            return taken;
        }

        private void number(long value) {
            long rest = value;
            while ((rest & ~0x7fL) != 0) {
                data[length++] = (byte) (rest | 0x80);
                rest >>>= 7;
            }
            data[length++] = (byte) rest;
        }
    }
}
