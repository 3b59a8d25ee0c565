package dev.stoker.connectors.files.listing;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.source.split.DirectorySplit;
import java.io.IOException;

/** Applies the rules of a tree to its entries, on any file system. Any thread may use it. */
record TreeRules(FileTree tree) {

    static final long[] NO_SIDECARS = {};

    boolean isHidden(String name) {
        return name.charAt(0) == '.' && tree.hidden() == FileTree.Hidden.SKIP;
    }

    /** A regular file. */
    void file(DirectorySplit directory, String name, long size, long modifiedMs, DirectoryLister.Visitor visitor) {
        // An empty sidecar is an empty value, not an error.
        if (size == 0
                && tree.empty() == FileTree.Empty.SKIP
                && tree.sidecars().stream().noneMatch(name::endsWith)) {
            visitor.skip(FileSkip.EMPTY, directory.child(name));
        } else {
            visitor.file(name, size, modifiedMs, NO_SIDECARS);
        }
    }

    /** Handles a name that cannot be decoded. */
    void badName(String path, DirectoryLister.Visitor visitor) throws IOException {
        if (tree.errors() == FileTree.Errors.FAIL) {
            throw new UnreadableException("The name of " + tree.path(path) + " is not UTF-8"
                    + " (this JVM decodes names as " + System.getProperty("sun.jnu.encoding")
                    + "): rename the file, set LC_ALL=C.UTF-8, or leave such files out with --on-error skip");
        }
        visitor.skip(FileSkip.BAD_NAME, path);
    }

    void unreadable(String path, IOException cause, DirectoryLister.Visitor visitor) throws IOException {
        if (tree.errors() == FileTree.Errors.FAIL) {
            throw new UnreadableException(tree.path(path), cause);
        }
        visitor.skip(FileSkip.UNREADABLE, path);
    }
}
