package dev.stoker.schemas.protocol;

/**
 * Either way: asks for a PONG with the same number.
 *
 * @param opaque any 64 bits
 */
public record Ping(long opaque) implements Frame {
    @Override
    public FrameType type() {
        return FrameType.PING;
    }
}
