package dev.stoker.formats.input;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;

/** Lists the compressions of whole files. */
public enum Compression {
    NONE(List.of()),
    GZIP(List.of(".gz", ".gzip")),
    ZSTD(List.of(".zst", ".zstd"));

    private static final int GZIP_MAGIC = 0x8b1f;
    private static final int ZSTD_MAGIC = 0xFD2FB528;
    private static final int ZSTD_SKIPPABLE = 0x184D2A50;

    @SuppressWarnings("ImmutableEnumChecker") // never changed
    private final List<String> endings;

    Compression(List<String> endings) {
        this.endings = endings;
    }

    /** Returns the compression of a file that begins with these bytes. Does not change the buffer. */
    public static Compression of(ByteBuffer first) {
        int at = first.position();
        int known = first.remaining();
        if (known >= 3
                && (byteAt(first, at) | byteAt(first, at + 1) << 8) == GZIP_MAGIC
                && byteAt(first, at + 2) == 8) {
            return GZIP;
        }
        if (known >= 4) {
            int magic = byteAt(first, at)
                    | byteAt(first, at + 1) << 8
                    | byteAt(first, at + 2) << 16
                    | byteAt(first, at + 3) << 24;
            if (magic == ZSTD_MAGIC || (magic & 0xFFFFFFF0) == ZSTD_SKIPPABLE) {
                return ZSTD;
            }
        }
        return NONE;
    }

    private static int byteAt(ByteBuffer bytes, int index) {
        return bytes.get(index) & 0xff;
    }

    /** Returns a file's name without the ending of its compression. */
    public static String nameInside(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        for (Compression compression : values()) {
            for (String ending : compression.endings) {
                if (lower.endsWith(ending)) {
                    return name.substring(0, name.length() - ending.length());
                }
            }
        }
        return lower.endsWith(".tgz") ? name.substring(0, name.length() - 4) + ".tar" : name;
    }
}
