package dev.stoker.formats.block;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/** Compresses streams while they are written. */
public final class StreamCompression {
    /** The names of all compressions; the first is the default. */
    public static final List<String> NAMES = List.of("none", "gzip", "zstd");

    private static final int BUFFER = 64 << 10;

    private StreamCompression() {}

    /**
     * Returns a stream that compresses.
     *
     * @param name one of {@link #NAMES}
     * @return closing it ends the compressed data; {@code out} stays open
     */
    public static OutputStream open(OutputStream out, String name) throws IOException {
        OutputStream open = new FilterOutputStream(out) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                out.write(bytes, offset, length);
            }

            @Override
            public void close() throws IOException {
                out.flush();
            }
        };
        return switch (name) {
            case "gzip" -> new GZIPOutputStream(open, BUFFER);
            case "zstd" -> new ZstdOutputStreamNoFinalizer(open);
            default -> open;
        };
    }

    /** Returns the ending of a compressed file. */
    public static String ending(String name) {
        return switch (name) {
            case "gzip" -> ".gz";
            case "zstd" -> ".zst";
            default -> "";
        };
    }
}
