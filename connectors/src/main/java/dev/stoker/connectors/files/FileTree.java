package dev.stoker.connectors.files;

import java.io.Serializable;
import java.util.List;

/**
 * Which tree is walked, and what in it is a sample.
 *
 * @param root absolute path of the tree
 * @param hidden what happens to names that start with a dot
 * @param links what happens to symbolic links
 * @param empty what happens to files of no bytes
 * @param errors what happens to what cannot be listed or read
 * @param sidecars endings of files that belong to the sample of the same name, such as {@code .txt}
 * @param sorted whether a directory's entries are listed in the order of their names
 */
public record FileTree(
        String root, Hidden hidden, Links links, Empty empty, Errors errors, List<String> sidecars, boolean sorted)
        implements Serializable {

    private static final long serialVersionUID = 1;

    /** Names that start with a dot. */
    public enum Hidden {
        SKIP,
        INCLUDE
    }

    /** Symbolic links. */
    public enum Links {
        FOLLOW,
        SKIP
    }

    /** Files of no bytes. */
    public enum Empty {
        SKIP,
        INCLUDE
    }

    /** What cannot be listed or read. */
    public enum Errors {
        FAIL,
        SKIP
    }

    public FileTree {
        if (!root.startsWith("/")) {
            throw new IllegalArgumentException("The root of a tree is absolute, not " + root);
        }
        sidecars = List.copyOf(sidecars);
    }

    /** This tree, listed in the order of names. */
    public FileTree inOrder() {
        return new FileTree(root, hidden, links, empty, errors, sidecars, true);
    }

    /** The path of a file or directory of this tree. */
    public String path(String relative) {
        return relative.isEmpty() ? root : root.endsWith("/") ? root + relative : root + "/" + relative;
    }
}
