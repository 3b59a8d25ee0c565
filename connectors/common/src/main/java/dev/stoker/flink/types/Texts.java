package dev.stoker.flink.types;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Texts as a length in bytes and UTF-8, at most 128 MiB of it: {@code writeUTF} fails beyond 65,535 bytes. */
public final class Texts {

    private static final int LIMIT = 128 << 20;

    private Texts() {}

    public static void write(String text, DataOutputView out) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        if (bytes.length > LIMIT) {
            throw new IOException("A text has " + bytes.length + " bytes; at most " + LIMIT + " are allowed");
        }
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    public static String read(DataInputView in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > LIMIT) {
            throw new IOException("A text has " + length + " bytes; at most " + LIMIT + " are allowed");
        }
        byte[] bytes = new byte[length];
        in.readFully(bytes);
        return new String(bytes, UTF_8);
    }
}
