package dev.stoker.schemas.protocol;

import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.protocol.parts.Fields;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

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

    public ByteBuffer body() {
        byte[] name = path.getBytes(StandardCharsets.UTF_8);
        ByteBuffer out = ByteBuffer.allocate(FIXED + name.length).order(ByteOrder.LITTLE_ENDIAN);
        out.putInt((int) file).putInt(name.length);
        return out.putLong(device).putLong(inode).putLong(length).put(name).flip();
    }

    public static FileAnnouncement read(ByteBuffer body) throws ProtocolException {
        long file = Integer.toUnsignedLong(body.getInt());
        long pathBytes = Integer.toUnsignedLong(body.getInt());
        long device = body.getLong();
        long inode = body.getLong();
        long length = body.getLong();
        try {
            if (body.remaining() != pathBytes) {
                throw ProtocolException.badFrame(
                        "FILE: " + body.remaining() + " bytes left for a path of " + pathBytes);
            }
            String path = StandardCharsets.UTF_8.newDecoder().decode(body).toString();
            return new FileAnnouncement(file, device, inode, length, path);
        } catch (CharacterCodingException e) {
            throw new ProtocolException(ErrorCode.BAD_FRAME, "FILE: the path is not UTF-8", e);
        }
    }

    @Override
    public FrameType type() {
        return FrameType.FILE;
    }
}
