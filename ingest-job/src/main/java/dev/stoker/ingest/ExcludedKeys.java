package dev.stoker.ingest;

import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The keys of {@code --exclude-keys-from}. One that matches no file can be misspelled, and then its sample is not left
 * out.
 *
 * @param given number of the keys
 * @param unmatched number of those that match no file of the source
 * @param first the first of them, in the order of keys
 */
public record ExcludedKeys(long given, long unmatched, List<String> first) implements Serializable {
    private static final long serialVersionUID = 1;

    static final ExcludedKeys NONE = new ExcludedKeys(0, 0, List.of());

    public ExcludedKeys {
        first = List.copyOf(first);
    }

    /** Returns a line about the keys without a file, if there are any. */
    public List<String> lines() {
        if (unmatched == 0) {
            return List.of();
        }
        String names = first.stream().map(ShellText::word).collect(Collectors.joining(", "));
        return List.of("noted: " + Units.count(unmatched) + " of " + Units.plural(given, "key")
                + " of --exclude-keys-from " + (unmatched == 1 ? "matches" : "match") + " no file of the source: "
                + names + (unmatched > first.size() ? ", …" : ""));
    }
}
