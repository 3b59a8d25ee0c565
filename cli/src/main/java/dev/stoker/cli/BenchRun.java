package dev.stoker.cli;

import dev.stoker.bench.measure.Progress;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Shows the progress of a measurement, and stops it on a signal: the measurement then removes its files and ends.
 * Thread-safe.
 */
final class BenchRun implements Progress, AutoCloseable {

    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicReference<String> doing = new AtomicReference<>("");
    private final Signals signals = new Signals();
    private final ReadProgress line;

    BenchRun(PrintWriter err) {
        signals.onStop(() -> stopped.set(true));
        line = new ReadProgress(err, doing::get);
    }

    @Override
    public void doing(String what) {
        doing.set(what);
    }

    @Override
    public boolean isStopped() {
        return stopped.get();
    }

    /**
     * Ends the display of progress.
     *
     * @throws CommandException if the user has stopped the measurement
     */
    void end() throws CommandException {
        line.end();
        if (signals.exitCode().isPresent()) {
            throw new CommandException(
                    "the measurement was stopped; its files are removed",
                    signals.exitCode().getAsInt(),
                    null);
        }
    }

    @Override
    public void close() {
        line.close();
        signals.close();
    }
}
