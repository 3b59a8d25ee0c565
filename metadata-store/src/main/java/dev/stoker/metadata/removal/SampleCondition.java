package dev.stoker.metadata.removal;

import dev.stoker.schemas.chunk.ChunkHead;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Decides which samples of a chunk are selected. For one thread. */
public interface SampleCondition {

    /** Returns whether {@link #matches} needs the whole file. */
    boolean readsPayload();

    /**
     * Returns whether the condition is true for a sample.
     *
     * @param head the head of its chunk
     * @param file the whole file of the chunk; null unless the condition needs it
     */
    boolean matches(ChunkHead head, @Nullable ByteBuffer file, int row) throws IOException;
}
