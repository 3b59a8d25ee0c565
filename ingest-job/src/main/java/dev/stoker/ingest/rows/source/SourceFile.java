package dev.stoker.ingest.rows.source;

import dev.stoker.storage.Stores;
import java.io.Serializable;

/**
 * A file with rows.
 *
 * @param root the tree that the file is in: an absolute path or a URI
 * @param path path in the tree; keys begin with it
 * @param length length in bytes when it was listed
 * @param split name of the split that the file belongs to; empty if the source does not say so
 * @param index location of the MDS index that names the file; empty if there is none
 */
public record SourceFile(String root, String path, long length, String split, String index)
        implements Serializable, Comparable<SourceFile> {
    private static final long serialVersionUID = 1;

    /** A file of which nothing else is known. */
    public SourceFile(String root, String path, long length) {
        this(root, path, length, "", "");
    }

    /** Returns the file with other paths to the same place. */
    public SourceFile under(String otherRoot, String otherPath) {
        return new SourceFile(otherRoot, otherPath, length, split, index);
    }

    public SourceFile inSplit(String name) {
        return new SourceFile(root, path, length, name, index);
    }

    SourceFile inIndex(String location) {
        return new SourceFile(root, path, length, split, location);
    }

    /** Returns the whole path, for messages. */
    public String location() {
        return root.endsWith("/") ? root + path : root + "/" + path;
    }

    public boolean isRemote() {
        return Stores.isRemote(root);
    }

    @Override
    public int compareTo(SourceFile other) {
        int byRoot = root.compareTo(other.root);
        return byRoot != 0 ? byRoot : path.compareTo(other.path);
    }
}
