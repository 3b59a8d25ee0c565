package dev.stoker.connectors.files;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects files of a tree by their names. A pattern without {@code /} is for the name of a file or directory at any
 * depth, such as {@code *.jpg}; another one is for the path below the root, such as {@code raw/**}.
 *
 * @param include patterns of which a file must have one; none to take all files
 * @param exclude patterns of which neither a file nor a directory above it may have one
 * @param source the pattern that the user gave as the source, for the path below the root; null to take all files
 */
public record NameFilter(
        ArrayList<PathPattern> include,
        ArrayList<PathPattern> exclude,
        @Nullable PathPattern source) implements Serializable {
    private static final long serialVersionUID = 1;

    /** Takes all files. */
    public static final NameFilter ALL = new NameFilter(List.of(), List.of());

    /** Creates a filter of these patterns. */
    public NameFilter(List<PathPattern> include, List<PathPattern> exclude) {
        this(new ArrayList<>(include), new ArrayList<>(exclude), null);
    }

    /** Returns this filter for the files that also have the pattern of a source. */
    public NameFilter with(PathPattern pattern) {
        return new NameFilter(include, exclude, pattern);
    }

    /** Returns whether a file is taken. */
    public boolean takes(String path) {
        return (source == null || source.matches(path))
                && (include.isEmpty() || has(include, path))
                && !has(exclude, path);
    }

    /** Returns whether no file of a directory is taken. */
    public boolean leavesOut(String directory) {
        return has(exclude, directory);
    }

    /** Returns whether all files are taken. */
    public boolean isAll() {
        return include.isEmpty() && exclude.isEmpty() && source == null;
    }

    private static boolean has(List<PathPattern> patterns, String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return patterns.stream().anyMatch(pattern -> pattern.matches(pattern.hasDirectory() ? path : name));
    }
}
