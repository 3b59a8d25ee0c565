package dev.stoker.formats.arrow;

import dev.stoker.formats.FileHead;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;

/** Arrow IPC files, also called Feather version 2, and streams. */
public final class ArrowFormat implements RowFormat {
    private static final String CONTINUATION = "\u00ff\u00ff\u00ff\u00ff";

    @Override
    public String name() {
        return "arrow";
    }

    @Override
    public boolean recognises(FileHead file) {
        return file.begins(ArrowMessages.MAGIC + "\0\0") || isStream(file);
    }

    /** Looks at the type of the first message: a wide schema is longer than the head of the file. */
    private static boolean isStream(FileHead file) {
        if (file.first().limit() < 32) {
            return false;
        }
        ByteBuffer first = file.first().duplicate().order(ByteOrder.LITTLE_ENDIAN);
        boolean isOld = !file.begins(CONTINUATION);
        int start = isOld ? 4 : 8;
        int length = first.getInt(start - 4);
        if (length <= 0 || length > file.length() - start || (isOld && (length + start) % 8 != 0)) {
            return false;
        }
        try {
            Message message = Message.getRootAsMessage(first.position(start).slice());
            // A file of another format can begin with a small number, so a stream of before Arrow 0.15 has more to
            // show.
            return message.headerType() == MessageHeader.Schema
                    && (!isOld || (message.version() == MetadataVersion.V4 && message.bodyLength() == 0));
        } catch (RuntimeException e) {
            return false;
        }
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits) throws IOException {
        return new ArrowRowFile(new ArrowMessages(file, limits), limits);
    }
}
