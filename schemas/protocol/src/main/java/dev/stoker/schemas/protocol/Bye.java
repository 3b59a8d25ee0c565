package dev.stoker.schemas.protocol;

/** Ends the session normally; the sender closes the connection afterwards (both directions). */
public record Bye() implements Frame {
    @Override
    public FrameType type() {
        return FrameType.BYE;
    }
}
