package dev.stoker.schemas.protocol;

/**
 * Reports that the server has processed every number of the subscription: it was sent, or the client had received it
 * before (server to client).
 *
 * @param subscription the subscription that ends
 * @param epoch its epoch
 * @param batches number of batch numbers that were sent or already past
 * @param rows number of rows sent
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
