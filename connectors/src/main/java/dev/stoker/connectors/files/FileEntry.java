package dev.stoker.connectors.files;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * A file found by the walk.
 *
 * @param key path relative to the root, in UTF-8
 * @param size in bytes
 * @param modifiedMs time of the last change
 * @param sidecars for each sidecar ending of the tree the size of that file, or -1 if there is none
 */
public record FileEntry(byte[] key, long size, long modifiedMs, long[] sidecars) {

    /** The key as text. */
    public String path() {
        return new String(key, UTF_8);
    }
}
