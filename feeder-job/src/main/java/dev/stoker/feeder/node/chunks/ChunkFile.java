package dev.stoker.feeder.node.chunks;

import java.util.Objects;

/**
 * A chunk's file, as the chunk table knows it.
 *
 * @param name the object's name in the dataset's store
 * @param length its length in bytes
 */
public record ChunkFile(String name, long length) {
    public ChunkFile {
        Objects.requireNonNull(name, "name");
        if (length < 1 || length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(name + ": length " + length + " is not between 1 and 2^31-1");
        }
    }
}
