package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.Fields;

/**
 * Announces a file that later {@link BatchRef}s may refer to, on a session with local reads (server to client). Its
 * number is new, or replaces an earlier file of the same number.
 *
 * @param file its number, below {@code local_files} of WELCOME
 * @param device device number, as {@code stat} gives it; any 64 bits
 * @param inode number on that device; any 64 bits
 * @param length its length in bytes
 * @param path absolute path on the machine of client and server
 */
public record FileAnnouncement(long file, long device, long inode, long length, String path) implements Frame {
    /** Bytes before the path. */
    public static final int FIXED = 32;

    static final int MAX_PATH = 4096;

    public FileAnnouncement {
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
