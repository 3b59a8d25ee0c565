package dev.stoker.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;

/**
 * Prints text for people and JSON, in which data cannot control the terminal: characters that a terminal interprets are
 * printed as escapes of JSON, such as {@code \u001b}. Line ends and tabs stay. For one thread, like its writer.
 *
 * <p>Colours, images and the lines of progress are printed to {@link #raw}.
 */
final class SafeOutput extends PrintWriter {

    private final PrintWriter raw;

    private SafeOutput(PrintWriter raw) {
        super(new Escaping(raw), true);
        this.raw = raw;
    }

    static PrintWriter of(PrintWriter raw) {
        return raw instanceof SafeOutput ? raw : new SafeOutput(raw);
    }

    /** Returns the writer for text that controls the terminal. The text must not contain data. */
    static PrintWriter raw(PrintWriter out) {
        return out instanceof SafeOutput safe ? safe.raw : out;
    }

    private static boolean isLayout(char c) {
        return c == '\n' || c == '\t';
    }

    /** Returns a text in which each character that a terminal interprets is an escape; line ends and tabs stay. */
    static String escape(CharSequence text) {
        StringBuilder safe = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (KeyText.isInvisible(c) && !isLayout(c)) {
                safe.append(String.format("\\u%04x", (int) c));
            } else {
                safe.append(c);
            }
        }
        return safe.toString();
    }

    private static final class Escaping extends Writer {

        private final PrintWriter raw;

        Escaping(PrintWriter raw) {
            this.raw = raw;
        }

        @Override
        public void write(char[] text, int from, int length) {
            int start = from;
            for (int i = from; i < from + length; i++) {
                if (KeyText.isInvisible(text[i]) && !isLayout(text[i])) {
                    raw.write(text, start, i - start);
                    raw.write(String.format("\\u%04x", (int) text[i]));
                    start = i + 1;
                }
            }
            raw.write(text, start, from + length - start);
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
