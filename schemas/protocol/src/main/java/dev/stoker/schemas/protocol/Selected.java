package dev.stoker.schemas.protocol;

/**
 * Answers {@link Select} (server to client).
 *
 * @param largestBatchBytes upper bound of the message bytes of a delivered batch with the selected columns
 * @param viewTag identifies the selected columns in BATCH headers
 */
public record Selected(long largestBatchBytes, long viewTag) implements Frame {
    public Selected {
        Fields.natural("largest_batch", largestBatchBytes);
    }

    @Override
    public FrameType type() {
        return FrameType.SELECTED;
    }
}
