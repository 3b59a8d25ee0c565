package dev.stoker.schemas.protocol;

/**
 * Either way: answers a PING.
 *
 * @param opaque the PING's
 */
public record Pong(long opaque) implements Frame {
    @Override
    public FrameType type() {
        return FrameType.PONG;
    }
}
