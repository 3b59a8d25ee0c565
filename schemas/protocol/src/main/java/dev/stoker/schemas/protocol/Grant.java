package dev.stoker.schemas.protocol;

/**
 * Permits the server to send batches up to a number (client to server).
 *
 * @param subscription the subscription it belongs to; the server ignores a grant for an earlier one
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
