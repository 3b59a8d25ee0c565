package dev.stoker.connectors.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Texts as a length in bytes and UTF-8: {@code writeUTF} ends at 65,535 bytes. */
final class Texts {

    private static final int LIMIT = 1 << 20;

    private Texts() {}

    static void write(String text, DataOutputView out) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    static String read(DataInputView in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > LIMIT) {
            throw new IOException("A text of " + length + " bytes, at most " + LIMIT + " are allowed");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return new String(bytes, UTF_8);
    }
}
