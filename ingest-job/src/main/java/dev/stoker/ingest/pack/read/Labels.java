package dev.stoker.ingest.pack.read;

import dev.stoker.ingest.spec.LabelRule;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.schemas.text.Units;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.csv.CSVFormat;
import org.apache.commons.csv.CSVParser;
import org.apache.commons.csv.CSVRecord;

/** Derives the class of a sample from its key. Immutable; any thread may use it. */
public interface Labels {

    /** The class, or empty if it cannot be derived. */
    Optional<String> of(String key);

    /** The error for a key that has no class, with the next step. */
    String missing(String key);

    /**
     * Prepares a rule.
     *
     * @throws IOException if its table cannot be read
     */
    static Labels of(LabelRule rule) throws IOException {
        if (rule instanceof LabelRule.Regex regex) {
            return new ByRegex(regex.pattern());
        }
        if (rule instanceof LabelRule.Csv csv) {
            return ByTable.read(csv.file());
        }
        return new ByParent();
    }

    /** The name of the directory that contains the file. */
    final class ByParent implements Labels {

        @Override
        public Optional<String> of(String key) {
            int end = key.lastIndexOf('/');
            return end < 0 ? Optional.empty() : Optional.of(key.substring(key.lastIndexOf('/', end - 1) + 1, end));
        }

        @Override
        public String missing(String key) {
            return key + " is not in a directory below the source, so --label-from parent-dir gives it no class;"
                    + " move it into one, or leave such files out with --on-error skip";
        }
    }

    /** A group of a regular expression that is found in the key. */
    final class ByRegex implements Labels {

        private final Pattern pattern;
        private final boolean isNamed;

        ByRegex(Pattern pattern) {
            this.pattern = pattern;
            this.isNamed = pattern.pattern().contains("(?<label>");
        }

        @Override
        public Optional<String> of(String key) {
            Matcher matcher = pattern.matcher(key);
            if (!matcher.find()) {
                return Optional.empty();
            }
            return Optional.ofNullable(isNamed ? matcher.group("label") : matcher.group(1));
        }

        @Override
        public String missing(String key) {
            return key + " does not match the expression " + pattern
                    + " of --label-from; change it, or leave such files out with --on-error skip";
        }
    }

    /** A table of keys and classes. Takes 16 bytes for each key, and stores each class once. */
    final class ByTable implements Labels {

        private final String file;
        private final long[] keys;
        private final int[] classes;
        private final List<String> names = new ArrayList<>();
        private final Map<String, Integer> ids = new HashMap<>();

        private ByTable(String file, int rows) {
            this.file = file;
            int capacity = Integer.highestOneBit(Math.max(8, rows) * 2 - 1) * 2;
            keys = new long[capacity];
            classes = new int[capacity];
        }

        public static ByTable read(String file) throws IOException {
            int most;
            try (BufferedReader lines = TextSource.open(file)) {
                most = Math.toIntExact(lines.lines().count());
            }
            ByTable table = new ByTable(file, most);
            try (CSVParser rows = CSVFormat.DEFAULT.parse(TextSource.open(file))) {
                for (CSVRecord row : rows) {
                    if (row.size() > 1 || !row.get(0).isBlank()) {
                        table.add(row, rows.getCurrentLineNumber());
                    }
                }
            } catch (UncheckedIOException e) {
                throw new IOException(file + " is not a table of comma-separated values: " + e.getMessage(), e);
            }
            return table;
        }

        /** @param line the last line of the row */
        private void add(CSVRecord cells, long line) throws IOException {
            if (cells.size() != 2) {
                throw new IOException("Line " + line + " of " + file + " has " + Units.plural(cells.size(), "cell")
                        + "; expected a key, a comma and a class");
            }
            int id = ids.computeIfAbsent(cells.get(1), name -> {
                names.add(name);
                return names.size();
            });
            int slot = slot(hash(cells.get(0)));
            if (classes[slot] != 0 && classes[slot] != id) {
                throw new IOException(
                        "Line " + line + " of " + file + " gives " + cells.get(0) + " a second class; keep one");
            }
            keys[slot] = hash(cells.get(0));
            classes[slot] = id;
        }

        private int slot(long hash) {
            int slot = (int) hash & (keys.length - 1);
            while (classes[slot] != 0 && keys[slot] != hash) {
                slot = slot + 1 & (keys.length - 1);
            }
            return slot;
        }

        private static long hash(String key) {
            return KeyHash.hash(0, key.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public Optional<String> of(String key) {
            int id = classes[slot(hash(key))];
            return id == 0 ? Optional.empty() : Optional.of(names.get(id - 1));
        }

        @Override
        public String missing(String key) {
            return file + " has no line for " + key + "; add one, or leave such files out with --on-error skip";
        }
    }
}
