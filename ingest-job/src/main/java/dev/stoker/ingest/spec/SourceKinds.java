package dev.stoker.ingest.spec;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.detection.ForeignFormat;
import dev.stoker.formats.detection.Formats;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Counts the files of a source by what they are, and decides whether each row or each file becomes a sample. A source
 * whose files do not agree is refused, because both choices would change what a sample is. For one thread.
 */
public final class SourceKinds {
    private static final int MOST_ENDINGS = 4;
    private static final String OR_FILES = "pack each file as one sample with --format files";

    private enum Type {
        ROWS,
        FOREIGN,
        MEDIA,
        OTHER
    }

    /**
     * What a file is: one of a format with rows, one that Stoker does not read, an image or sound, or another file.
     *
     * @param type which of them
     * @param name of the format or kind
     * @param advice what to do with a file that Stoker does not read
     */
    public record Kind(Type type, String name, String advice) {
        private static final Kind MEDIA = new Kind(Type.MEDIA, "image or sound", "");

        /** A file that nothing tells from a sample. */
        public static final Kind OTHER = new Kind(Type.OTHER, "other", "");

        /** A file of a format with rows. */
        public static Kind rows(RowFormat format) {
            return new Kind(Type.ROWS, format.name(), "");
        }

        /** A container that Stoker does not read. */
        public static Kind foreign(ForeignFormat format) {
            return new Kind(Type.FOREIGN, format.kind(), format.advice());
        }

        /** Returns whether it has rows. */
        public boolean isRows() {
            return type == Type.ROWS;
        }

        /** Returns whether it has the rows of a format. */
        public boolean isRows(String format) {
            return isRows() && name.equals(format);
        }

        /** Returns what the name of a file says about it. */
        public static Kind ofName(String path) {
            Optional<RowFormat> claimed = Formats.claimed(path);
            if (claimed.isPresent()) {
                return rows(claimed.get());
            }
            FileKind kind = FileKind.of(path);
            return ForeignFormat.named(path)
                    .map(Kind::foreign)
                    .orElse(kind == FileKind.IMAGE || kind == FileKind.AUDIO ? MEDIA : OTHER);
        }
    }

    /** Whether each row or each file becomes a sample. */
    public enum Choice {
        ROWS,
        FILES
    }

    private static final class Counted {
        private final Set<String> endings = new TreeSet<>();
        private String example = "";
        private long count;
    }

    private final Map<Kind, Counted> counts = new LinkedHashMap<>();

    /** Counts a file. */
    public void add(Kind kind, String path) {
        add(kind, path, 1);
    }

    /** Counts files of one kind with one ending. */
    public void add(Kind kind, String example, long count) {
        Counted counted = counts.computeIfAbsent(kind, k -> new Counted());
        counted.count += count;
        counted.example = counted.example.isEmpty() ? example : counted.example;
        if (counted.endings.size() <= MOST_ENDINGS) {
            counted.endings.add(ending(example));
        }
    }

    private static String ending(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        String inside = Compression.nameInside(name);
        int dot = inside.endsWith(".tar") && name.endsWith(".tgz") ? name.length() - 4 : inside.lastIndexOf('.');
        return dot <= 0 ? "" : name.substring(dot);
    }

    private long count(Type type) {
        return counts.entrySet().stream()
                .filter(counted -> counted.getKey().type() == type)
                .mapToLong(counted -> counted.getValue().count)
                .sum();
    }

    /** Returns the format that most files with rows have; empty if none has rows. */
    public Optional<String> format() {
        return counts.entrySet().stream()
                .filter(counted -> counted.getKey().type() == Type.ROWS)
                .max((a, b) -> Long.compare(a.getValue().count, b.getValue().count))
                .map(counted -> counted.getKey().name());
    }

    /** Returns whether there are files with rows, or containers that Stoker does not read. */
    public boolean hasContainers() {
        return count(Type.ROWS) + count(Type.FOREIGN) > 0;
    }

    /**
     * Decides. Images and sounds are files, also with a few tables beside them.
     *
     * @param source for the message
     * @param errors whether files that do not agree with the others may be left out
     * @throws InvalidIngestException if files do not agree, or Stoker does not read them
     */
    public Choice choose(String source, FileTree.Errors errors) {
        long containers = count(Type.ROWS) + count(Type.FOREIGN);
        if (containers == 0 || count(Type.MEDIA) >= containers) {
            return Choice.FILES;
        }
        requireOneFormat(source, errors);
        return Choice.ROWS;
    }

    /**
     * Requires that the files have rows of one format.
     *
     * @param errors whether files that do not agree with the others may be left out
     */
    public void requireOneFormat(String source, FileTree.Errors errors) {
        long rows = count(Type.ROWS);
        long all = all();
        long formats = formats();
        requireReadable(source);
        boolean mayLeaveOut = errors == FileTree.Errors.SKIP && rows > all - rows;
        if (formats == 1 && (rows == all || mayLeaveOut)) {
            return;
        }
        List<String> ways = new ArrayList<>(ways(formats, rows, all));
        ways.add(OR_FILES);
        throw new InvalidIngestException(contents(source) + "; " + String.join(", or ", ways));
    }

    /** Refuses a single file that Stoker does not read. */
    private void requireReadable(String source) {
        counts.forEach((kind, counted) -> {
            if (kind.type() == Type.FOREIGN && all() == 1 && source.endsWith("/" + counted.example)) {
                throw new InvalidIngestException("the source " + source + " is " + kind.name()
                        + ", which Stoker does not read; " + kind.advice());
            }
        });
    }

    /** Requires that the files of a table have rows of one format. */
    public void requireTable(String location) {
        if (formats() != 1 || count(Type.ROWS) < all()) {
            List<String> ways = count(Type.ROWS) == 0
                    ? ways(0, 0, all())
                    : List.of("name the files of the table with a pattern in quotes, or their format with --format");
            throw new InvalidIngestException(contents(location) + "; " + String.join(", or ", ways));
        }
    }

    private long all() {
        return counts.values().stream().mapToLong(counted -> counted.count).sum();
    }

    private long formats() {
        return counts.keySet().stream().filter(kind -> kind.type() == Type.ROWS).count();
    }

    private String contents(String source) {
        return "the source " + source + " has " + (counts.size() == 1 ? "" : "files of several kinds: ") + texts();
    }

    private List<String> ways(long formats, long rows, long all) {
        if (rows == 0) {
            return counts.keySet().stream()
                    .filter(kind -> kind.type() == Type.FOREIGN)
                    .map(Kind::advice)
                    .distinct()
                    .toList();
        }
        if (formats > 1) {
            return counts.keySet().stream()
                    .filter(kind -> kind.type() == Type.ROWS)
                    .map(kind -> "ingest the files of " + kind.name() + " alone with " + include(kind))
                    .toList();
        }
        Kind kept = counts.keySet().stream()
                .filter(kind -> kind.type() == Type.ROWS)
                .findFirst()
                .orElseThrow();
        Set<String> others = counts.entrySet().stream()
                .filter(counted -> !counted.getKey().equals(kept))
                .flatMap(counted -> counted.getValue().endings.stream())
                .collect(Collectors.toCollection(TreeSet::new));
        boolean isNameEnough = others.stream().noneMatch(endings(kept)::contains)
                && !endings(kept).contains("")
                && endings(kept).size() <= MOST_ENDINGS;
        List<String> ways = new ArrayList<>();
        if (all - rows == 1) {
            ways.add("leave it out with --exclude "
                    + counts.entrySet().stream()
                            .filter(counted -> !counted.getKey().equals(kept))
                            .map(counted -> quoted(counted.getValue().example, ""))
                            .findFirst()
                            .orElseThrow());
        } else if (isNameEnough) {
            ways.add("take the files of " + kept.name() + " alone with " + include(kept));
        }
        if (rows > all - rows) {
            ways.add("leave out what is no file of " + kept.name() + " with --on-error skip");
        }
        ways.add("read all of them as " + kept.name() + " with --format " + kept.name());
        return ways;
    }

    private Set<String> endings(Kind kind) {
        Counted counted = counts.get(kind);
        return counted == null ? Set.of() : counted.endings;
    }

    private String include(Kind kind) {
        return endings(kind).stream()
                .map(ending -> "--include " + quoted(ending.isEmpty() ? "**" : ending, ending.isEmpty() ? "" : "*"))
                .collect(Collectors.joining(" "));
    }

    /** Returns a pattern for a name, as a shell takes it. */
    private static String quoted(String name, String wild) {
        return ShellText.word(wild + name.replaceAll("[\\\\*?\\[\\]{}]", "\\\\$0"));
    }

    private String texts() {
        List<String> texts = new ArrayList<>();
        counts.forEach((kind, counted) -> texts.add(text(kind, counted)));
        return texts.size() == 1
                ? texts.get(0)
                : String.join(", ", texts.subList(0, texts.size() - 1)) + " and " + texts.get(texts.size() - 1);
    }

    private static String text(Kind kind, Counted counted) {
        String example = " (" + (counted.count == 1 ? "" : "such as ") + counted.example + ")";
        return switch (kind.type()) {
            case ROWS -> Units.plural(counted.count, "file") + " of " + kind.name() + example;
            case FOREIGN ->
                Units.plural(counted.count, "file") + " of a kind that Stoker does not read: " + kind.name() + example;
            case MEDIA ->
                Units.count(counted.count) + (counted.count == 1 ? " image or sound" : " images or sounds") + example;
            case OTHER -> Units.plural(counted.count, "other file") + example;
        };
    }
}
