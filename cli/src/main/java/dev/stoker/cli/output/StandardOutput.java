package dev.stoker.cli.output;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;

/**
 * Standard output of a command. Remembers that a write has failed, which a PrintWriter does not report. All later
 * writes fail, too, because an output with a gap in the middle would look complete. Thread-safe.
 */
public final class StandardOutput extends OutputStream {

    private final OutputStream out;

    /** Guarded by this. */
    private @Nullable LostOutputException lost;

    public StandardOutput(OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public synchronized void write(byte[] bytes, int from, int length) throws IOException {
        requireWritable();
        try {
            out.write(bytes, from, length);
        } catch (IOException e) {
            lost = new LostOutputException(e);
            throw lost;
        }
    }

    @Override
    public synchronized void flush() throws IOException {
        requireWritable();
        try {
            out.flush();
        } catch (IOException e) {
            lost = new LostOutputException(e);
            throw lost;
        }
    }

    private void requireWritable() throws LostOutputException {
        if (lost != null) {
            throw lost;
        }
    }

    /**
     * Returns the exit code of a command whose output has been flushed, and reports a loss of output. A command that
     * has failed keeps its exit code.
     */
    public synchronized int end(int code, PrintWriter err) {
        return lost == null ? code : code == 0 ? report(lost, err) : code;
    }

    /** Reports that output was lost, and returns the exit code of the command. */
    public static int report(LostOutputException lost, PrintWriter err) {
        if (!lost.isClosed()) {
            err.println("stoker: " + lost.getMessage());
        }
        return lost.code();
    }
}
