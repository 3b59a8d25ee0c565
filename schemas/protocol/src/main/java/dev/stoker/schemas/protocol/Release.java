package dev.stoker.schemas.protocol;

/**
 * Reports how many {@link BatchRef}s of this session the client has read, so that the server can release their files
 * (client to server).
 *
 * @param references number of references, counted from the session's first
 */
public record Release(long references) implements Frame {
    public Release {
        Fields.natural("references", references);
    }

    @Override
    public FrameType type() {
        return FrameType.RELEASE;
    }
}
