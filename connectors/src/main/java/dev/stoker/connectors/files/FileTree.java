package dev.stoker.connectors.files;

import dev.stoker.storage.Stores;
import java.io.Serializable;
import java.util.List;

/**
 * The tree to walk, and the rules that select its samples.
 *
 * @param root the tree's location: an absolute path or a URI
 * @param hidden the rule for names that start with a dot
 * @param links the rule for symbolic links
 * @param empty the rule for files of no bytes
 * @param errors the rule for entries that cannot be listed or read
 * @param sidecars endings of files that belong to the sample of the same name, such as {@code .txt}
 * @param names the rule for names of files
 * @param sorted whether a directory's entries are listed in the order of their names
 */
public record FileTree(
        String root,
        Hidden hidden,
        Links links,
        Empty empty,
        Errors errors,
        List<String> sidecars,
        NameFilter names,
        boolean sorted)
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

    /** Entries that cannot be listed or read. */
    public enum Errors {
        FAIL,
        SKIP
    }

    public FileTree {
        if (!root.startsWith("/") && !Stores.isRemote(root)) {
            throw new IllegalArgumentException("The root of a tree must be an absolute path or a URI, not " + root);
        }
        sidecars = List.copyOf(sidecars);
    }

    /** This tree, listed in the order of names. */
    public FileTree inOrder() {
        return new FileTree(root, hidden, links, empty, errors, sidecars, names, true);
    }

    /** Whether the tree is on a file system that this machine has not mounted. */
    public boolean isRemote() {
        return Stores.isRemote(root);
    }

    /** The path of a file or directory of this tree. */
    public String path(String relative) {
        return relative.isEmpty() ? root : root.endsWith("/") ? root + relative : root + "/" + relative;
    }
}
