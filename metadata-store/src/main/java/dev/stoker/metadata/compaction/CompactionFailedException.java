package dev.stoker.metadata.compaction;

import dev.stoker.schemas.errors.StokerException;
import org.jspecify.annotations.Nullable;

/** Nothing was committed. The message is one line and names the next step. */
public final class CompactionFailedException extends StokerException {

    private static final long serialVersionUID = 1;

    private CompactionFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    static CompactionFailedException damaged(long ordinal, Exception cause) {
        return new CompactionFailedException(
                "Chunk " + ordinal + " cannot be compacted, and nothing was committed: " + cause.getMessage(), cause);
    }

    static CompactionFailedException overtaken(long version) {
        return new CompactionFailedException(
                "All chunks of this compaction were removed, changed or compacted by other commits up to version "
                        + version + "; nothing was committed. Run it again if it is still needed",
                null);
    }
}
