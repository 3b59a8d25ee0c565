package dev.stoker.cli.output;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;

/**
 * Prints text for people and JSON, in which data cannot control the terminal: characters that a terminal interprets are
 * printed as escapes of JSON, such as {@code \u001b}. Line ends and tabs stay. For one thread, like its writer.
 *
 * <p>Colours, images and the lines of progress are printed to {@link #raw}.
 */
public final class SafeOutput extends PrintWriter {

    private final PrintWriter raw;

    private SafeOutput(PrintWriter raw) {
        super(new Escaping(raw), true);
        this.raw = raw;
    }

    public static PrintWriter of(PrintWriter raw) {
        return raw instanceof SafeOutput ? raw : new SafeOutput(raw);
    }

    /** Returns the writer for text that controls the terminal. The text must not contain data. */
    public static PrintWriter raw(PrintWriter out) {
        return out instanceof SafeOutput safe ? safe.raw : out;
    }

    /** Returns a text in which each character that a terminal interprets is an escape; line ends and tabs stay. */
    public static String escape(String text) {
        StringWriter safe = new StringWriter(text.length());
        new SafeOutput(new PrintWriter(safe)).print(text);
        return safe.toString();
    }

    private static final class Escaping extends Writer {

        private final PrintWriter raw;

        Escaping(PrintWriter raw) {
            this.raw = raw;
        }

        @Override
        public void write(char[] text, int from, int length) {
            int end = from + length;
            int start = from;
            for (int i = from, size; i < end; i += size) {
                int c = Character.codePointAt(text, i, end);
                size = Character.charCount(c);
                if (c != '\n' && c != '\t' && KeyText.isInvisible(c)) {
                    raw.write(text, start, i - start);
                    for (start = i; start < i + size; start++) {
                        raw.write(String.format("\\u%04x", (int) text[start]));
                    }
                }
            }
            raw.write(text, start, end - start);
        }

        @Override
        public void flush() throws IOException {
            if (raw.checkError()) {
                throw new IOException("the output cannot be written");
            }
        }

        @Override
        public void close() throws IOException {
            flush();
        }
    }
}
