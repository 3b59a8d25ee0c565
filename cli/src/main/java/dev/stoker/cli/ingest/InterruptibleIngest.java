package dev.stoker.cli.ingest;

import dev.stoker.cli.output.ProgressLine;
import dev.stoker.cli.output.Signals;
import dev.stoker.ingest.IngestProgress;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Runs an ingest in the foreground: shows its progress, and cancels it on Ctrl-C. */
final class InterruptibleIngest {

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
        return Signals.interrupting(() -> Optional.of(run(job, ingest, err)), e -> {
            if (ingest.get() == null) {
                throw e;
            }
            err.println("stoker: interrupted; nothing is visible in the dataset. Resume with: " + command
                    + " … --ingest-id " + ingest.get());
            return Optional.empty();
        });
    }

    private static <T> T run(Job<T> job, AtomicReference<String> ingest, PrintWriter err) throws Exception {
        try (ProgressLine line = new ProgressLine(err)) {
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
            return result;
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
