package dev.stoker.schemas.protocol;

/**
 * Answers a PING (both directions).
 *
 * @param opaque the bits of the PING
 */
public record Pong(long opaque) implements Frame {
    @Override
    public FrameType type() {
        return FrameType.PONG;
    }
}
