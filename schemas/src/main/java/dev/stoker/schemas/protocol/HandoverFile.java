package dev.stoker.schemas.protocol;

/**
 * Server to client, on a session with hand-over: a file that {@link BatchRef}s behind it may refer to, under a number that
 * stood for another file before, or for none.
 *
 * @param file its number, below what WELCOME said
 * @param device device number, as {@code stat} gives it; any 64 bits
 * @param inode number on that device; any 64 bits
 * @param length its bytes
 * @param path absolute path on the machine of both
 */
public record HandoverFile(long file, long device, long inode, long length, String path) implements Frame {
    /** Bytes before the path. */
    static final int FIXED = 32;

    static final int MAX_PATH = 4096;

    public HandoverFile {
        Fields.u32("file", file);
        Fields.natural("length", length);
        if (!path.startsWith("/") || path.length() > MAX_PATH || path.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("path: expected an absolute one of at most " + MAX_PATH + " characters");
        }
    }

    @Override
    public FrameType type() {
        return FrameType.FILE;
    }
}
