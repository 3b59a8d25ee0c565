package dev.stoker.ingest;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The result of an ingest.
 *
 * @param version the committed version; the newest one if there was nothing to commit
 * @param ingestId the ingest's id
 * @param outcome whether this run committed it
 * @param samples in that version's new chunks
 * @param replaced samples of the dataset that these have replaced
 * @param chunks new in that version
 * @param bytes of these chunks' files
 * @param startUp time until the first task ran
 * @param duration from then until the version was committed
 * @param skipped files that were left out, by reason, without zeros
 * @param examples one path for each reason, except for rows that were only counted
 * @param missing number of the samples that have no class, by categorical field, without zeros
 * @param reason why there was nothing to commit, if it was known before the job
 * @param excludedKeys the keys that were given to be left out
 * @param items the list of rows and files that could not be samples, if an ingest of rows has left out any
 */
public record IngestResult(
        long version,
        String ingestId,
        Outcome outcome,
        long samples,
        long replaced,
        long chunks,
        long bytes,
        Duration startUp,
        Duration duration,
        Map<FileSkip, Long> skipped,
        Map<FileSkip, String> examples,
        SortedMap<String, Long> missing,
        Optional<String> reason,
        ExcludedKeys excludedKeys,
        Optional<SkippedItems> items) {

    /** Whether this run committed the version. */
    public enum Outcome {
        COMMITTED,
        /** An earlier run under the same id had committed it; this run did nothing. */
        COMMITTED_BEFORE,
        /** There was nothing to commit: the version already has all keys, or the source has no sample. */
        UNCHANGED
    }

    public IngestResult {
        skipped = Map.copyOf(skipped);
        examples = Map.copyOf(examples);
    }

    /** Returns this result of an ingest that was given keys to leave out. */
    IngestResult with(ExcludedKeys keys) {
        return new IngestResult(
                version, ingestId, outcome, samples, replaced, chunks, bytes, startUp, duration, skipped, examples,
                missing, reason, keys, items);
    }

    /** The result as text. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        if (outcome == Outcome.COMMITTED_BEFORE) {
            lines.add("version " + version + " was already committed by ingest " + ingestId + "; nothing was done");
            return lines;
        }
        String time = Units.seconds(duration) + " (start-up " + Units.seconds(startUp) + ")";
        if (outcome == Outcome.UNCHANGED) {
            boolean hasKeys = skipped.containsKey(FileSkip.STORED);
            lines.add(
                    hasKeys
                            ? "nothing to commit: version " + version + " already has all keys, " + time
                            : "nothing new: " + reason.orElse("no sample of the source was left") + "; version "
                                    + version + " stays the newest one");
        } else {
            lines.add("version " + version + ": " + Units.plural(samples, "sample") + " in "
                    + Units.plural(chunks, "chunk") + ", " + Units.bytes(bytes) + ", " + time);
        }
        if (replaced > 0) {
            lines.add("replaced: " + Units.plural(replaced, "sample") + " of the dataset");
        }
        skipped.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(entry -> lines.add((entry.getKey() == FileSkip.CHANGED ? "noted: " : "left out: ")
                        + entry.getKey().text(entry.getValue())
                        + (examples.containsKey(entry.getKey()) ? ", such as " + examples.get(entry.getKey()) : "")));
        lines.addAll(excludedKeys.lines());
        items.ifPresent(list -> lines.addAll(list.lines()));
        lines.addAll(missingLines());
        return lines;
    }

    /** Which classes are missing, as text. */
    public List<String> missingLines() {
        return missing.entrySet().stream()
                .map(entry -> "noted: " + Units.plural(entry.getValue(), "sample")
                        + (entry.getValue() == 1 ? " has" : " have") + " no class in field " + entry.getKey())
                .toList();
    }
}
