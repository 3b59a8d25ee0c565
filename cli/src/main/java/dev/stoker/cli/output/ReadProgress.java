package dev.stoker.cli.output;

import java.io.PrintWriter;
import java.util.function.Supplier;

/** Shows the progress of work that another thread does, on a separate thread. */
public final class ReadProgress implements AutoCloseable {

    private static final int INTERVAL_MS = 500;

    private final Thread thread;

    /** @param text describes the progress */
    public ReadProgress(PrintWriter err, Supplier<String> text) {
        thread = new Thread(
                () -> {
                    try (ProgressLine line = new ProgressLine(err)) {
                        while (true) {
                            Thread.sleep(INTERVAL_MS);
                            line.show(text.get());
                        }
                    } catch (InterruptedException e) {
                        // Normal end: the work is done.
                    }
                },
                "stoker-progress");
        thread.setDaemon(true);
        thread.start();
    }

    /** Clears the line. Can be called twice. */
    public void end() {
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException e) {
            // The thread is a daemon and has been told to end.
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        end();
    }
}
