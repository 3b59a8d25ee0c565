package dev.stoker.ingest;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of an ingest.
 *
 * @param version the committed version
 * @param ingestId the ingest's id
 * @param outcome whether this run committed it
 * @param samples in that version's new chunks
 * @param chunks new in that version
 * @param bytes of these chunks' files
 * @param startUp time until the first task ran
 * @param duration from then until the version was committed
 * @param skipped files that were left out, by reason, without zeros
 * @param examples one path for each reason, except for rows that were only counted
 * @param items the list of rows and files that could not be samples, if an ingest of rows has left out any
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
        Map<FileSkip, String> examples,
        Optional<SkippedItems> items) {

    /** Whether this run committed the version. */
    public enum Outcome {
        COMMITTED,
        /** An earlier run under the same id had committed it; this run did nothing. */
        COMMITTED_BEFORE
    }

    public IngestResult {
        skipped = Map.copyOf(skipped);
        examples = Map.copyOf(examples);
    }

    /** The result as text. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        if (outcome == Outcome.COMMITTED_BEFORE) {
            lines.add("version " + version + " was already committed by ingest " + ingestId + "; nothing was done");
            return lines;
        }
        lines.add("version " + version + ": " + Units.plural(samples, "sample") + " in " + Units.plural(chunks, "chunk")
                + ", " + Units.bytes(bytes) + ", " + Units.seconds(duration) + " (start-up "
                + Units.seconds(startUp)
                + ")");
        skipped.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(entry -> lines.add((entry.getKey() == FileSkip.CHANGED ? "noted: " : "left out: ")
                        + entry.getKey().text(entry.getValue())
                        + (examples.containsKey(entry.getKey()) ? ", such as " + examples.get(entry.getKey()) : "")));
        items.ifPresent(list -> lines.addAll(list.lines()));
        return lines;
    }
}
