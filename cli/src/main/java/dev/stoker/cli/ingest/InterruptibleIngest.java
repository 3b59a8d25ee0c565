package dev.stoker.cli.ingest;

import dev.stoker.cli.output.ProgressLine;
import dev.stoker.cli.output.Signals;
import dev.stoker.ingest.IngestProgress;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

/** Runs an ingest in the foreground: shows its progress, and cancels it on Ctrl-C. */
final class InterruptibleIngest {

    /** The exit code after Ctrl-C. */
    static final int INTERRUPTED = 130;

    private InterruptibleIngest() {}

    /** Runs an ingest. */
    interface Job<T> {
        T run(IngestListener<IngestProgress> listener) throws Exception;
    }

    /**
     * Runs an ingest.
     *
     * @param command to run again after an interrupt; the id of the ingest follows
     * @return the result; empty after an interrupt
     */
    static <T> Optional<T> run(Job<T> job, String command, PrintWriter err) throws Exception {
        AtomicReference<String> ingest = new AtomicReference<>();
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread worker = Thread.currentThread();
        try (Signals signals = new Signals();
                ProgressLine line = new ProgressLine(err)) {
            signals.onStop(() -> {
                interrupted.set(true);
                worker.interrupt();
            });
            T result = job.run(new IngestListener<>() {
                @Override
                public void started(String ingestId, List<String> plan) {
                    ingest.set(ingestId);
                    plan.forEach(err::println);
                }

                @Override
                public void progressed(IngestProgress progress) {
                    line.show(text(progress));
                }
            });
            line.end();
            return Optional.of(result);
        } catch (Exception e) {
            // The exception of an interrupted job depends on its state.
            if (!interrupted.get() || ingest.get() == null) {
                throw e;
            }
            err.println("stoker: interrupted; nothing is visible in the dataset. Resume with: " + command
                    + " … --ingest-id " + ingest.get());
            return Optional.empty();
        }
    }

    private static String text(IngestProgress progress) {
        return switch (progress.phase()) {
            case STARTING -> "starting …";
            case LISTING ->
                "listing: " + Units.plural(progress.listedFiles(), "file") + ", " + Units.bytes(progress.listedBytes());
            case READING ->
                "reading: " + Units.plural(progress.listedFiles(), "row") + ", " + Units.bytes(progress.listedBytes());
            case PACKING ->
                "packing: " + Units.count(progress.samples()) + " of "
                        + Units.plural(progress.listedFiles(), "sample") + ", "
                        + Units.rate(progress.bytesPerSecond())
                        + progress.remaining()
                                .map(left -> ", " + Units.time(left) + " left")
                                .orElse("");
            // Tasks that pack rows do not count their chunks before the end.
            case COMMITTING ->
                progress.chunks() == 0
                        ? "committing …"
                        : "committing " + Units.plural(progress.chunks(), "chunk") + " …";
        };
    }
}
