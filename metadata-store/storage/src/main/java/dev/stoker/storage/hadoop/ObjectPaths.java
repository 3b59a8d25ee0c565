package dev.stoker.storage.hadoop;

import dev.stoker.storage.ObjectNames;
import java.net.URI;
import org.apache.hadoop.fs.Path;

/** Converts object names to paths of a file system and back. */
final class ObjectPaths {

    /**
     * Prefix of the names of temporary files and of unfinished uploads. The last part of an object's name never has
     * this prefix.
     */
    static final String TEMPORARY_PREFIX = ".tmp-";

    private final URI root;
    private final String rootPath;

    /** @param root absolute, with a scheme */
    ObjectPaths(URI root) {
        this.root = root;
        String path = root.getPath() == null ? "" : root.getPath();
        this.rootPath = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    }

    Path root() {
        return at(rootPath.isEmpty() ? "/" : rootPath);
    }

    Path path(String name) {
        return at(rootPath + "/" + ObjectNames.check(name));
    }

    /** Returns the same as {@link #path}, but rejects names that look like the name of a temporary file. */
    Path newObject(String name) {
        Path path = path(name);
        if (isTemporary(path.getName())) {
            throw new IllegalArgumentException(
                    "An object's name must not start with " + TEMPORARY_PREFIX + ": " + name);
        }
        return path;
    }

    private Path at(String path) {
        // Built from its parts: a string with a colon would be parsed as a URI.
        return new Path(root.getScheme(), root.getAuthority(), path);
    }

    /** Returns the name of the object at a path below the root. */
    String name(Path path) {
        return path.toUri().getPath().substring(rootPath.length() + 1);
    }

    /**
     * Returns the directory of all objects with the prefix, as a name with a slash at its end, or nothing for the root.
     */
    static String directoryOf(String prefix) {
        int slash = prefix.lastIndexOf('/');
        return slash < 0 ? "" : ObjectNames.check(prefix.substring(0, slash)) + "/";
    }

    Path directory(String directory) {
        return directory.isEmpty() ? root() : path(directory.substring(0, directory.length() - 1));
    }

    static boolean isTemporary(String lastPart) {
        return lastPart.startsWith(TEMPORARY_PREFIX);
    }

    /** Returns the root and the name, as a user would type them. */
    String describe(String name) {
        return this + "/" + ObjectNames.check(name);
    }

    /**
     * Returns the path within the file system, without scheme and authority, and without a slash in front: an S3 key.
     */
    String key(String name) {
        String path = rootPath + "/" + name;
        return path.substring(1);
    }

    /** Returns the path of an S3 key, which need not be the name of an object. */
    Path ofKey(String key) {
        return at("/" + key);
    }

    @Override
    public String toString() {
        return root.getScheme() + "://" + (root.getAuthority() == null ? "" : root.getAuthority()) + rootPath;
    }
}
