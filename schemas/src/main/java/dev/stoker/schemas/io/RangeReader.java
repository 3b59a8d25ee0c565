package dev.stoker.schemas.io;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads ranges of one immutable file into memory of the caller. Thread-safe. */
public interface RangeReader {
    /**
     * Fills {@code dst} from its position to its limit with the bytes from {@code offset} on.
     *
     * @throws java.io.EOFException when the file ends before that
     */
    void readFully(long offset, ByteBuffer dst) throws IOException;

    /** Returns the file's length in bytes. */
    long length() throws IOException;

    /** Returns the file's name for messages. */
    String name();
}
