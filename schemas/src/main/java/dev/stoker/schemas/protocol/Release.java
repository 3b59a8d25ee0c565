package dev.stoker.schemas.protocol;

/**
 * Client to server: so many {@link BatchRef}s of this session have been read, so that their files may go.
 *
 * @param references counted from the session's first
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
