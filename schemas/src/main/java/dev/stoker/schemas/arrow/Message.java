package dev.stoker.schemas.arrow;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.errors.StokerException;
import java.nio.ByteBuffer;

/** Reads the common part of all messages: {@code FF FF FF FF}, i32 length, and a flatbuffer with the Message table. */
final class Message {
    private static final int VERSION_5 = 4;
    private static final int MARKER = 0xFFFFFFFF;

    private Message() {}

    /** Returns the flatbuffer after the prefix at the buffer's position, including padding. */
    static ByteBuffer flatbuffer(ByteBuffer bytes, String file, String what) throws CorruptDataException {
        if (bytes.remaining() < RecordBatchLayout.PREFIX) {
            throw CorruptDataException.mismatch(file, what + " length", "at least 8 bytes", bytes.remaining());
        }
        int marker = bytes.getInt(bytes.position());
        int length = bytes.getInt(bytes.position() + 4);
        if (marker != MARKER) {
            throw CorruptDataException.mismatch(file, what + " marker", "ffffffff", Integer.toHexString(marker));
        }
        int room = bytes.remaining() - RecordBatchLayout.PREFIX;
        if (length < 8 || length > room) {
            throw CorruptDataException.mismatch(file, what + " length", "8 to " + room + " bytes", length);
        }
        return bytes.slice(bytes.position() + RecordBatchLayout.PREFIX, length);
    }

    /** Returns the position of the header table, which must have this type. */
    static int header(FlatReader in, int message, int type, String expected, String file) throws StokerException {
        int version = in.i16Field(message, 0);
        if (version > VERSION_5) {
            throw new FormatTooNewException(file, "Arrow metadata V" + (version + 1), VERSION_5 + 1);
        }
        int found = in.u8Field(message, 1);
        if (version != VERSION_5 || found != type) {
            throw new ForeignFileException(
                    file,
                    "an Arrow file as Stoker writes it",
                    "where " + expected + " in metadata V5 should stand is message type " + found + " in metadata V"
                            + (version + 1));
        }
        int header = in.reference(message, 2);
        if (header == 0) {
            throw in.corrupt("the message has no header");
        }
        return header;
    }
}
