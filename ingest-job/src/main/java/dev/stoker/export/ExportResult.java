package dev.stoker.export;

import dev.stoker.schemas.text.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A complete export.
 *
 * @param target directory or URI
 * @param exportId id of the export
 * @param version the version that was exported
 * @param samples number of samples
 * @param excluded number of samples that {@code --where} excluded
 * @param files number of files
 * @param bytes of the files
 * @param duration from the first task to the commit
 */
public record ExportResult(
        String target,
        String exportId,
        long version,
        long samples,
        long excluded,
        long files,
        long bytes,
        Duration duration) {
    /** Returns the result as text. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(Units.plural(samples, "sample") + " of version " + version + " in " + Units.plural(files, "file")
                + ", " + Units.bytes(bytes) + ", in " + Units.seconds(duration) + ": " + target);
        if (excluded > 0) {
            lines.add("left out: " + Units.plural(excluded, "sample") + " that --where excludes");
        }
        return lines;
    }
}
