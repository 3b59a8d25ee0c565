package dev.stoker.schemas.index;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Receives the bytes of a run, in order. */
@FunctionalInterface
public interface RunOutput {

    /** Appends all remaining bytes of the buffer. */
    void write(ByteBuffer bytes) throws IOException;
}
