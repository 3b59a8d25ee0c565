package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileSkip;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** The notation in a version's properties for files that its ingest has left out. */
public final class SkipNotes {

    /** Followed by a lower-case reason; the value is a number. */
    public static final String COUNT_PREFIX = FileSkip.NOTE_PREFIX;

    /** Followed by a lower-case reason; the value is a path. */
    public static final String EXAMPLE_PREFIX = "example.";

    private SkipNotes() {}

    /** The counts among a version's properties. */
    public static Map<FileSkip, Long> counts(Map<String, String> properties) {
        Map<FileSkip, Long> counts = new EnumMap<>(FileSkip.class);
        for (FileSkip reason : FileSkip.values()) {
            String count = properties.get(COUNT_PREFIX + reason.name().toLowerCase(Locale.ROOT));
            if (count != null) {
                counts.put(reason, Long.parseLong(count));
            }
        }
        return counts;
    }

    /** The example paths among a version's properties. */
    public static Map<FileSkip, String> examples(Map<String, String> properties) {
        Map<FileSkip, String> examples = new EnumMap<>(FileSkip.class);
        for (FileSkip reason : FileSkip.values()) {
            String path = properties.get(EXAMPLE_PREFIX + reason.name().toLowerCase(Locale.ROOT));
            if (path != null) {
                examples.put(reason, path);
            }
        }
        return examples;
    }
}
