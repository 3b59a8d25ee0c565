package dev.stoker.ingest.rows.source;

import dev.stoker.formats.RowFormat;
import dev.stoker.formats.detection.ForeignFormat;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.spec.FileKind;
import dev.stoker.ingest.spec.SourceKinds;
import dev.stoker.ingest.spec.SourceKinds.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds out what the files of a source are. The content of some files of each ending decides, and their names decide
 * where the content allows it: a file that is called {@code a.csv} is CSV, also if it is damaged. For one thread.
 */
public final class KindFinder {
    /** Files of one ending, and of all, whose content is looked at. */
    private static final int SAMPLED_OF_ENDING = 16;

    private static final int SAMPLED = 64;

    /** Files of one ending. */
    private static final class Group {
        private final Map<String, Kind> sampled = new LinkedHashMap<>();
        private final Set<Kind> kinds = new HashSet<>();
        private String example = "";
        private long others;
    }

    private final Map<String, Group> groups = new HashMap<>();
    private int sampled;
    private boolean hasRows;

    /**
     * Takes a file.
     *
     * @throws UncheckedIOException if it cannot be read
     */
    public void add(SourceFile file) {
        Group group = groups.computeIfAbsent(FileKind.extension(file.path()), ending -> new Group());
        if (group.sampled.size() < SAMPLED_OF_ENDING && (sampled < SAMPLED || group.sampled.isEmpty())) {
            sampled++;
            Kind kind = ofContent(file);
            group.sampled.put(file.path(), kind);
            group.kinds.add(kind);
            hasRows |= kind.isRows();
        } else {
            group.example = group.example.isEmpty() ? file.path() : group.example;
            group.others++;
        }
    }

    private static Kind ofContent(SourceFile file) {
        if (file.length() == 0) {
            return Kind.ofName(file.path());
        }
        try (SourceReader reader = SourceReader.open(file)) {
            Optional<RowFormat> format = Formats.detect(reader);
            if (format.isPresent()) {
                return Kind.rows(format.get());
            }
            Optional<ForeignFormat> foreign = Formats.foreign(reader)
                    .filter(found -> found.isAlwaysContainer()
                            || ForeignFormat.named(file.path()).equals(Optional.of(found)));
            return foreign.map(Kind::foreign).orElseGet(() -> Kind.ofName(file.path()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns whether a file has rows whose content was looked at. */
    public boolean hasRows() {
        return hasRows;
    }

    /** Returns the kind of a file that was added. */
    public Kind of(SourceFile file) {
        Group group = groups.getOrDefault(FileKind.extension(file.path()), new Group());
        Kind known = group.sampled.get(file.path());
        return known == null ? ofOthers(group, file.path()) : known;
    }

    private static Kind ofOthers(Group group, String path) {
        return group.kinds.size() == 1 ? group.kinds.iterator().next() : Kind.ofName(path);
    }

    /** Returns how many files are of which kind. */
    public SourceKinds kinds() {
        SourceKinds kinds = new SourceKinds();
        List<String> endings = new ArrayList<>(groups.keySet());
        endings.sort(null);
        for (String ending : endings) {
            Group group = groups.getOrDefault(ending, new Group());
            group.sampled.forEach((path, kind) -> kinds.add(kind, path));
            if (group.others > 0) {
                kinds.add(ofOthers(group, group.example), group.example, group.others);
            }
        }
        return kinds;
    }
}
