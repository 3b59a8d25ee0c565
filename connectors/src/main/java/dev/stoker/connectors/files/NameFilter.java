package dev.stoker.connectors.files;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects files of a tree by their names. A pattern without {@code /} is for the name of a file or directory at any
 * depth, such as {@code *.jpg}; another one is for the path below the root, such as {@code raw/**}.
 *
 * @param include patterns of which a file must have one; none to take all files
 * @param exclude patterns of which neither a file nor a directory above it may have one
 * @param keys paths below the root of files that are not taken
 * @param source the pattern that the user gave as the source, for the path below the root; null to take all files
 */
public record NameFilter(
        ArrayList<PathPattern> include,
        ArrayList<PathPattern> exclude,
        HashSet<String> keys,
        @Nullable PathPattern source)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Takes all files. */
    public static final NameFilter ALL = new NameFilter(List.of(), List.of(), Set.of());

    /** Creates a filter of these patterns and paths. */
    public NameFilter(List<PathPattern> include, List<PathPattern> exclude, Set<String> keys) {
        this(new ArrayList<>(include), new ArrayList<>(exclude), new HashSet<>(keys), null);
    }

    /** Returns this filter for the files that also have the pattern of a source. */
    public NameFilter with(PathPattern pattern) {
        return new NameFilter(include, exclude, keys, pattern);
    }

    /** Returns whether a file is taken. */
    public boolean takes(String path) {
        return (source == null || source.matches(path))
                && (include.isEmpty() || has(include, path))
                && !has(exclude, path)
                && !keys.contains(path);
    }

    /** Returns whether no file of a directory is taken. */
    public boolean leavesOut(String directory) {
        return has(exclude, directory);
    }

    /** Returns whether all files are taken. */
    public boolean isAll() {
        return include.isEmpty() && exclude.isEmpty() && keys.isEmpty() && source == null;
    }

    private static boolean has(List<PathPattern> patterns, String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        return patterns.stream().anyMatch(pattern -> pattern.matches(pattern.hasDirectory() ? path : name));
    }
}
