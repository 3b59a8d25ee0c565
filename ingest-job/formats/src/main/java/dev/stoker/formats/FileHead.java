package dev.stoker.formats;

import dev.stoker.schemas.io.MagicBytes;
import java.nio.ByteBuffer;

/**
 * The parts of a file by which its format is detected.
 *
 * @param name name of the file, for its ending
 * @param length length of the file in bytes
 * @param first its first bytes, up to {@link #FIRST_BYTES}
 * @param last its last bytes, up to {@link #LAST_BYTES}
 */
public record FileHead(String name, long length, ByteBuffer first, ByteBuffer last) {
    /** Enough for the second header of a tar file and for the first lines of a text. */
    public static final int FIRST_BYTES = 4096;

    public static final int LAST_BYTES = 16;

    public FileHead {
        first = first.slice().asReadOnlyBuffer();
        last = last.slice().asReadOnlyBuffer();
    }

    /** Returns whether the file begins with these ISO 8859-1 characters. */
    public boolean begins(String text) {
        return MagicBytes.areAt(first, 0, text);
    }

    /** Returns whether the file ends with these ISO 8859-1 characters. */
    public boolean ends(String text) {
        return MagicBytes.areAt(last, last.limit() - text.length(), text);
    }
}
