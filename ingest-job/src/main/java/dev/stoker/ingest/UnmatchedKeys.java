package dev.stoker.ingest;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.listing.DirectoryLister;
import java.util.List;
import java.util.TreeSet;

/** The keys of {@code --exclude-keys-from} whose files a listing has not found yet. For one thread at a time. */
final class UnmatchedKeys {
    private static final int NAMED = 5;

    private final List<String> sidecars;
    private final TreeSet<String> left;
    private final int given;

    UnmatchedKeys(FileTree tree) {
        sidecars = tree.sidecars();
        left = new TreeSet<>(tree.names().keys());
        given = left.size();
    }

    /**
     * Finds an entry of the tree. One that was left out can be a directory: the listing does not say which files are
     * below it, so none of their keys is taken for a wrong one.
     */
    void find(String path, boolean isLeftOut) {
        if (left.isEmpty()) {
            return;
        }
        left.remove(path);
        sidecars.forEach(ending -> left.remove(DirectoryLister.sidecarOf(path, ending)));
        if (isLeftOut && path.isEmpty()) {
            left.clear();
        } else if (isLeftOut) {
            // The character behind the slash.
            left.subSet(path + "/", path + "0").clear();
        }
    }

    ExcludedKeys result() {
        return new ExcludedKeys(given, left.size(), left.stream().limit(NAMED).toList());
    }
}
