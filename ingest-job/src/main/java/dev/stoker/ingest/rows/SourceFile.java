package dev.stoker.ingest.rows;

import dev.stoker.storage.Stores;
import java.io.Serializable;

/**
 * A file with rows.
 *
 * @param root the tree that the file is in: an absolute path or a URI
 * @param path path in the tree; keys begin with it
 * @param length length in bytes when it was listed
 */
record SourceFile(String root, String path, long length) implements Serializable, Comparable<SourceFile> {
    private static final long serialVersionUID = 1;

    /** Returns the whole path, for messages. */
    String location() {
        return root.endsWith("/") ? root + path : root + "/" + path;
    }

    boolean isRemote() {
        return Stores.isRemote(root);
    }

    @Override
    public int compareTo(SourceFile other) {
        int byRoot = root.compareTo(other.root);
        return byRoot != 0 ? byRoot : path.compareTo(other.path);
    }
}
