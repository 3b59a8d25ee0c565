package dev.stoker.ingest;

import dev.stoker.connectors.files.FileSkip;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What an ingest has done.
 *
 * @param version that it committed
 * @param ingestId under which it did so
 * @param outcome whether this run committed it
 * @param samples in that version's new chunks
 * @param chunks new in that version
 * @param bytes of these chunks' files
 * @param startUp until the first task ran
 * @param duration from then on until the version was committed
 * @param skipped what was left out, by reason, without zeros
 * @param examples for each reason one path
 */
public record IngestResult(
        long version,
        String ingestId,
        Outcome outcome,
        long samples,
        long chunks,
        long bytes,
        Duration startUp,
        Duration duration,
        Map<FileSkip, Long> skipped,
        Map<FileSkip, String> examples) {

    /** Whether this run committed the version. */
    public enum Outcome {
        COMMITTED,
        /** An earlier run under the same id had done it; nothing was done now. */
        COMMITTED_BEFORE
    }

    public IngestResult {
        skipped = Map.copyOf(skipped);
        examples = Map.copyOf(examples);
    }

    /** The result in words, for people. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        if (outcome == Outcome.COMMITTED_BEFORE) {
            lines.add("version " + version + " was committed by ingest " + ingestId + " before; nothing was done");
            return lines;
        }
        lines.add(String.format(
                Locale.ROOT,
                "version %d: %,d samples in %,d chunks, %,d bytes, %.1f s (start-up %.1f s)",
                version,
                samples,
                chunks,
                bytes,
                duration.toNanos() / 1e9,
                startUp.toNanos() / 1e9));
        skipped.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(entry ->
                        lines.add((entry.getKey() == FileSkip.CHANGED ? "noted: " : "left out: ") + entry.getValue()
                                + " " + entry.getKey().text() + ", such as " + examples.get(entry.getKey())));
        return lines;
    }
}
