package dev.stoker.cli.bench;

import dev.stoker.bench.measure.Machine;
import dev.stoker.bench.measure.Progress;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.output.Signals;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Shows the progress of a measurement, and stops it on a signal: the measurement then removes its files and ends.
 * Thread-safe.
 */
final class BenchRun implements Progress, AutoCloseable {

    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicReference<String> doing = new AtomicReference<>("");
    private volatile Runnable atStop = () -> {};
    private final double loadBefore = Machine.load();
    private final Signals signals = new Signals();
    private final ReadProgress line;

    BenchRun(PrintWriter err) {
        signals.onStop(() -> {
            stopped.set(true);
            atStop.run();
        });
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

    @Override
    public double loadBefore() {
        return loadBefore;
    }

    /** Replaces what else a stop does, at once if the user has stopped the measurement already. */
    void atStop(Runnable action) {
        atStop = action;
        if (isStopped()) {
            action.run();
        }
    }

    /**
     * Measures with processes and connections, which can fail because of a stop: a stop is then the only failure.
     *
     * @throws CommandException if the user has stopped the measurement
     */
    <T> T stoppable(Callable<T> measurement) throws Exception {
        try {
            T result = measurement.call();
            requireNotStopped();
            return result;
        } catch (IOException | RuntimeException e) {
            requireNotStopped();
            throw e;
        }
    }

    /** @throws CommandException if the user has stopped the measurement */
    void requireNotStopped() throws CommandException {
        if (signals.exitCode().isPresent()) {
            line.end();
            throw new CommandException(
                    "the measurement was stopped; its files are removed",
                    signals.exitCode().getAsInt(),
                    null);
        }
    }

    /**
     * Ends the display of progress.
     *
     * @throws CommandException if the user has stopped the measurement
     */
    void end() throws CommandException {
        line.end();
        requireNotStopped();
    }

    @Override
    public void close() {
        line.close();
        signals.close();
    }
}
