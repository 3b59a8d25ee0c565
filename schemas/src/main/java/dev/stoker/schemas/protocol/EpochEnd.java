package dev.stoker.schemas.protocol;

/**
 * Server to client: every number of the subscription was sent or had been received before.
 *
 * @param subscription the subscription that ends
 * @param epoch its epoch
 * @param batches numbers sent or already past
 * @param rows rows sent
 */
public record EpochEnd(long subscription, long epoch, long batches, long rows) implements Frame {
    public EpochEnd {
        Fields.u32("subscription", subscription);
        Fields.u32("epoch", epoch);
        Fields.natural("batches", batches);
        Fields.natural("rows", rows);
    }

    @Override
    public FrameType type() {
        return FrameType.EPOCH_END;
    }
}
