package dev.stoker.schemas.chunk;

import java.util.Optional;
import java.util.UUID;
import java.util.random.RandomGenerator;

/** Creates ids of chunks and converts between ids and paths in the dataset's directory. */
public final class ChunkNames {
    /** Directory of all chunks. */
    public static final String FOLDER = "chunks";

    /** Directory of all overlays. */
    public static final String OVERLAYS = "overlays";

    /** Extension of chunk files. */
    public static final String EXTENSION = ".arrow";

    private ChunkNames() {}

    /**
     * Creates a new id (UUIDv7).
     *
     * @param nowMs Unix time
     * @param random source of the 74 random bits; must differ between writers
     */
    public static UUID newId(long nowMs, RandomGenerator random) {
        long high = (nowMs << 16) | 0x7000 | (random.nextLong() & 0xFFF);
        long low = 0x8000000000000000L | (random.nextLong() >>> 2);
        return new UUID(high, low);
    }

    /** Returns the path of the chunk relative to the dataset: {@code chunks/<last two digits>/<id>.arrow}. */
    public static String path(UUID id) {
        return path(FOLDER, id);
    }

    /** Returns the path of an overlay relative to the dataset: {@code overlays/<last two digits>/<id>.arrow}. */
    public static String overlayPath(UUID id) {
        return path(OVERLAYS, id);
    }

    private static String path(String folder, UUID id) {
        String text = id.toString();
        return folder + "/" + text.substring(text.length() - 2) + "/" + text + EXTENSION;
    }

    /** Returns the id with this {@link #path}; empty for any other text. */
    public static Optional<UUID> idOf(String path) {
        return idOf(FOLDER, path);
    }

    /** Returns the id of the overlay with this path; empty for any other text. */
    public static Optional<UUID> idOfOverlay(String path) {
        return idOf(OVERLAYS, path);
    }

    private static Optional<UUID> idOf(String folder, String path) {
        int slash = path.lastIndexOf('/');
        String name = path.substring(slash + 1);
        if (name.length() != 36 + EXTENSION.length() || !name.endsWith(EXTENSION)) {
            return Optional.empty();
        }
        try {
            UUID id = UUID.fromString(name.substring(0, 36));
            return path(folder, id).equals(path) ? Optional.of(id) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
