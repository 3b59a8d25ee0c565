package dev.stoker.schemas.protocol;

/**
 * Requests a PONG with the same number (both directions).
 *
 * @param opaque any 64 bits
 */
public record Ping(long opaque) implements Frame {
    @Override
    public FrameType type() {
        return FrameType.PING;
    }
}
