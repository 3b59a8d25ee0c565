package dev.stoker.schemas.index;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Provides the bytes of a run's file: by mapping, or by reads. Thread-safe. */
public interface RunSource {

    /** Returns the file's name as the user knows it. */
    String name();

    /** Returns the length of the file in bytes. */
    long length() throws IOException;

    /**
     * Returns a part of the file, from index 0 to the limit. The content must not change.
     *
     * @param length at most 1 GiB
     */
    ByteBuffer read(long position, int length) throws IOException;

    /** Returns whether a part that was read takes memory of this process. */
    boolean takesMemory();
}
