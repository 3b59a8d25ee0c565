package dev.stoker.schemas.protocol;

/**
 * Client to server: batches may be sent up to a number.
 *
 * @param subscription the subscription it belongs to; a grant for an earlier one is ignored
 * @param through the greatest virtual number that may be sent, inclusive
 */
public record Grant(long subscription, long through) implements Frame {
    public Grant {
        Fields.u32("subscription", subscription);
        Fields.natural("through", through);
    }

    @Override
    public FrameType type() {
        return FrameType.GRANT;
    }
}
