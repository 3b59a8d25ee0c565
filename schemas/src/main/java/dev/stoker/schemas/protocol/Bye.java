package dev.stoker.schemas.protocol;

/** Either way: the sender ends the session in good order and closes after it. */
public record Bye() implements Frame {
    @Override
    public FrameType type() {
        return FrameType.BYE;
    }
}
