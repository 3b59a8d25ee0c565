package dev.stoker.feeder.node.chunks;

import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Function;

/** A chunk's file, as the chunk table knows it. Immutable; any thread. */
public final class ChunkFile {
    private final String name;
    private final int length;
    /** Found once; two threads find the same. */
    private volatile Path path;

    /**
     * @param name the object's name in the dataset's store
     * @param length its length in bytes
     */
    public ChunkFile(String name, int length) {
        if (length < 1) {
            throw new IllegalArgumentException(name + ": length " + length + " is not positive");
        }
        this.name = Objects.requireNonNull(name, "name");
        this.length = length;
    }

    /** The object's name in the dataset's store. */
    public String name() {
        return name;
    }

    /** Its length in bytes. */
    public int length() {
        return length;
    }

    /** Where it lies on this machine. */
    Path path(Function<String, Path> find) {
        Path known = path;
        if (known == null) {
            known = find.apply(name);
            path = known;
        }
        return known;
    }

    @Override
    public String toString() {
        return name;
    }
}
