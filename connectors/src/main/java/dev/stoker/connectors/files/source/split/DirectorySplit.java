package dev.stoker.connectors.files.source.split;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * One directory to list.
 *
 * @param path relative to the root of the tree, parts joined by {@code /}; empty for the root itself
 * @param jumps the links that were followed to it, outermost first
 */
public record DirectorySplit(String path, List<Jump> jumps) implements SourceSplit {

    /** A path with more links than this is treated as a loop, as in the kernel. */
    public static final int MAX_JUMPS = 40;

    /**
     * A stretch of real directories between two links.
     *
     * @param from real path at which the stretch begins
     * @param to real path of the directory that contains the next link
     */
    public record Jump(String from, String to) {

        /** Whether the real directory is on this stretch. */
        public boolean passes(String real) {
            return isAtOrBelow(real, from) && isAtOrBelow(to, real);
        }

        private static boolean isAtOrBelow(String path, String ancestor) {
            return path.startsWith(ancestor)
                    && (path.length() == ancestor.length()
                            || ancestor.endsWith("/")
                            || path.charAt(ancestor.length()) == '/');
        }
    }

    /** The root of a tree. */
    public static final DirectorySplit ROOT = new DirectorySplit("", List.of());

    public DirectorySplit {
        Objects.requireNonNull(path, "path");
        jumps = List.copyOf(jumps);
    }

    @Override
    public String splitId() {
        return path;
    }

    /** The relative path of an entry of this directory. */
    public String child(String name) {
        return path.isEmpty() ? name : path + "/" + name;
    }

    public DirectorySplit directory(String name) {
        return new DirectorySplit(child(name), jumps);
    }

    public DirectorySplit linked(String name, Jump jump) {
        List<Jump> all = new ArrayList<>(jumps);
        all.add(jump);
        return new DirectorySplit(child(name), all);
    }
}
