package dev.stoker.ingest.pack;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The notation in a version's properties for the number of its new samples that have no class. */
public final class MissingClasses {

    /** Followed by the name of a categorical field; the value is a number. */
    private static final String PREFIX = "missing.";

    private MissingClasses() {}

    /**
     * Returns the properties for numbers by field.
     *
     * @param missing number of samples without a class, by field
     */
    public static Map<String, Long> notes(Map<String, Long> missing) {
        Map<String, Long> notes = new TreeMap<>();
        missing.forEach((field, rows) -> notes.put(PREFIX + field, rows));
        return notes;
    }

    /** The numbers among a version's properties, by field. */
    public static SortedMap<String, Long> of(Map<String, String> properties) {
        SortedMap<String, Long> missing = new TreeMap<>();
        properties.forEach((name, count) -> {
            if (name.startsWith(PREFIX)) {
                missing.put(name.substring(PREFIX.length()), Long.parseLong(count));
            }
        });
        return missing;
    }
}
