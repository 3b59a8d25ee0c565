package dev.stoker.storage.cloud;

import dev.stoker.storage.ObjectNames;
import java.net.URI;

/**
 * Converts object names to keys of a bucket and back.
 *
 * @param uri the root as a user would type it, without a slash at its end
 * @param path the root within the bucket, without slashes at its ends
 */
record CloudLocation(String uri, String path) {

    static CloudLocation of(URI uri) {
        String path = uri.getPath() == null ? "" : uri.getPath();
        String inner = path.startsWith("/") ? path.substring(1) : path;
        String root = inner.endsWith("/") ? inner.substring(0, inner.length() - 1) : inner;
        return new CloudLocation(
                uri.getScheme() + "://" + uri.getRawAuthority() + (root.isEmpty() ? "" : "/" + root), root);
    }

    /** Returns the prefix of all keys: empty, or with a slash at its end. */
    String prefix() {
        return path.isEmpty() ? "" : path + "/";
    }

    String key(String name) {
        return prefix() + ObjectNames.check(name);
    }

    /** Returns the name of the object with a key below the root. */
    String name(String key) {
        return key.substring(prefix().length());
    }

    String describe(String name) {
        return uri + "/" + ObjectNames.check(name);
    }

    @Override
    public String toString() {
        return uri;
    }
}
