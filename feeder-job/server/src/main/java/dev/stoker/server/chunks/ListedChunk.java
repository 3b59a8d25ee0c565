package dev.stoker.server.chunks;

import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A chunk's file, as the chunk table knows it. Immutable; any thread. */
public final class ListedChunk {
    private final UUID id;
    private final String name;
    private final int length;
    private final int crc32c;
    /** Found once; two threads find the same. */
    private volatile @Nullable Path path;

    /**
     * @param id the chunk's id, by which caches know it
     * @param name the object's name in the dataset's store
     * @param length its length in bytes
     * @param crc32c the checksum of the whole file
     */
    public ListedChunk(UUID id, String name, int length, int crc32c) {
        if (length < 1) {
            throw new IllegalArgumentException(name + ": length " + length + " is not positive");
        }
        this.id = Objects.requireNonNull(id, "id");
        this.crc32c = crc32c;
        this.name = Objects.requireNonNull(name, "name");
        this.length = length;
    }

    /** The chunk's id; no other chunk of any dataset has it. */
    public UUID id() {
        return id;
    }

    /** The object's name in the dataset's store. */
    public String name() {
        return name;
    }

    /** Its length in bytes. */
    public int length() {
        return length;
    }

    /** CRC-32C of all its bytes. */
    public int crc32c() {
        return crc32c;
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
