package dev.stoker.cli.output;

import java.io.PrintWriter;

/** One line that is overwritten on a terminal; elsewhere, a new line every few seconds. For one thread. */
public final class ProgressLine implements AutoCloseable {

    private static final long PLAIN_NANOS = 5_000_000_000L;

    private final PrintWriter err;
    private final boolean terminal = Terminal.isThere();
    private long last = System.nanoTime();
    private int width;

    public ProgressLine(PrintWriter err) {
        this.err = SafeOutput.raw(err);
    }

    public void show(String progress) {
        String text = SafeOutput.escape(progress);
        if (terminal) {
            err.print("\r" + text + " ".repeat(Math.max(0, width - text.length())));
            err.flush();
            width = text.length();
        } else if (System.nanoTime() - last >= PLAIN_NANOS) {
            last = System.nanoTime();
            err.println(text);
        }
    }

    /** Keeps the line; later output begins on a new line. */
    public void end() {
        if (width > 0) {
            err.println();
            width = 0;
        }
    }

    @Override
    public void close() {
        end();
    }
}
