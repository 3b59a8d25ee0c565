package dev.stoker.server.tiers.files;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.PrivateFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Chunks that feeds keep below one directory, and a claim of this process on them.
 *
 * <p>Layout: {@code <directory>/<space>/<last two hex digits>/<chunk id>.arrow}, where a space is named after a feed's
 * id or is {@value #NODE}. A process that uses a space holds a lock file {@code *.ref} in it; a space without a held
 * one belongs to nobody. {@code
 * <directory>/cache.lock} is held for moments while claims change.
 */
public final class CacheSpace implements ChunkSpace {
    /** The space that all feeds of a machine share. */
    public static final String NODE = "node";

    private static final String REFERENCE = ".ref";
    /**
     * Ranges of it are locked while chunks are brought into a shared space. Every space has one, and is known by it.
     */
    private static final String LOADS = "loads.lock";

    private static final String CHANGES = "cache.lock";
    private static final long CHANGES_MS = 60_000;
    /** Longer than a process takes to bring a chunk, and to place it. */
    private static final long LOAD_MS = 60_000;

    private final Path directory;
    private final Path space;
    private final CacheLock claim;
    private final FileChannel loads;

    private CacheSpace(Path directory, Path space, CacheLock claim, FileChannel loads) {
        this.directory = directory;
        this.space = space;
        this.claim = claim;
        this.loads = loads;
    }

    /**
     * Claims a space, and removes those of feeds that are gone.
     *
     * @param staleAfter how long a feed may be gone until its chunks are removed
     * @param access who may read the chunks
     * @throws IOException if the space is another user's
     */
    public static CacheSpace claim(Path directory, String name, Duration staleAfter, CacheAccess access)
            throws IOException {
        access.createDirectories(directory);
        CacheLock changes = CacheLock.await(directory.resolve(CHANGES), CHANGES_MS, access);
        try {
            for (Path other : spaces(directory)) {
                String found = other.getFileName().toString();
                if (!found.equals(name) && !found.equals(NODE) && isStale(other, staleAfter) && !isUsed(other)) {
                    PrivateFiles.delete(other);
                }
            }
            Path space = directory.resolve(name);
            access.createDirectory(space);
            access.require(space);
            CacheLock claim = CacheLock.ofProcess(space, REFERENCE, access);
            try {
                return new CacheSpace(directory, space, claim, access.openLock(space.resolve(LOADS)));
            } catch (IOException e) {
                claim.close();
                throw e;
            }
        } finally {
            changes.close();
        }
    }

    private static boolean isStale(Path space, Duration after) throws IOException {
        return System.currentTimeMillis() - Files.getLastModifiedTime(space).toMillis() >= after.toMillis();
    }

    /** The spaces below a directory that are this user's or its group's; nothing else there is ever touched. */
    public static List<Path> spaces(Path directory) throws IOException {
        try (Stream<Path> found = Files.list(directory)) {
            return found.filter(CacheSpace::isSpace).sorted().toList();
        } catch (NoSuchFileException | NotDirectoryException e) {
            return List.of();
        }
    }

    private static boolean isSpace(Path path) {
        String name = path.getFileName().toString();
        return (name.equals(NODE) || isId(name))
                && (PrivateFiles.isOwnDirectory(path) || CacheAccess.isShared(path))
                && Files.isRegularFile(path.resolve(LOADS), LinkOption.NOFOLLOW_LINKS);
    }

    private static boolean isId(String name) {
        try {
            return UUID.fromString(name).toString().equals(name);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** Whether a living process has claimed a space. */
    static boolean isUsed(Path space) throws IOException {
        for (Path file : references(space)) {
            if (CacheLock.isHeld(file)) {
                return true;
            }
            Files.deleteIfExists(file);
        }
        return false;
    }

    /**
     * Removes a space that nobody uses.
     *
     * @return whether it was removed
     */
    public static boolean clear(Path directory, Path space) throws IOException {
        CacheLock changes = CacheLock.await(directory.resolve(CHANGES), CHANGES_MS, CacheAccess.USER);
        try {
            if (isUsed(space)) {
                return false;
            }
            PrivateFiles.delete(space);
            return true;
        } finally {
            changes.close();
        }
    }

    @Override
    public boolean isShared() throws IOException {
        for (Path file : references(space)) {
            if (!file.equals(claim.file()) && CacheLock.isHeld(file)) {
                return true;
            }
        }
        return false;
    }

    static List<Path> references(Path space) throws IOException {
        try (Stream<Path> files = Files.list(space)) {
            return files.filter(file -> file.getFileName().toString().endsWith(REFERENCE))
                    .toList();
        } catch (NoSuchFileException e) {
            return List.of();
        }
    }

    @Override
    public Path path(UUID id) {
        return path(space, id);
    }

    /** Where a chunk lies in a space. */
    public static Path path(Path space, UUID id) {
        String name = id.toString();
        return space.resolve(name.substring(name.length() - 2)).resolve(name + ChunkNames.EXTENSION);
    }

    @Override
    public Map<UUID, Long> list() throws IOException {
        return list(space);
    }

    /** The chunks that lie in a space, and their lengths. */
    static Map<UUID, Long> list(Path space) throws IOException {
        Map<UUID, Long> found = new LinkedHashMap<>();
        for (Path file : below(space, 2)) {
            String name = file.getFileName().toString();
            String id = name.endsWith(ChunkNames.EXTENSION)
                    ? name.substring(0, name.length() - ChunkNames.EXTENSION.length())
                    : "";
            if (isId(id)) {
                length(file).ifPresent(bytes -> found.put(UUID.fromString(id), bytes));
            }
        }
        return found;
    }

    /** What lies below a space, directories before what is in them. */
    private static List<Path> below(Path space, int depth) throws IOException {
        try (Stream<Path> files = Files.walk(space, depth)) {
            return files.toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static Optional<Long> length(Path file) throws IOException {
        try {
            return Optional.of(Files.size(file));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
    }

    @Override
    public void removeUnfinished() throws IOException {
        for (Path file : below(space, 2)) {
            if (file.getFileName().toString().startsWith(CacheFiles.Nio.TEMPORARY)) {
                Files.deleteIfExists(file);
            }
        }
    }

    @Override
    public FileLock lockLoad(UUID id) throws IOException {
        return CacheLock.lock(loads, id.getLeastSignificantBits() >>> 2, 1, LOAD_MS, space);
    }

    @Override
    public boolean isMemory() {
        return false;
    }

    @Override
    public void close() throws IOException {
        boolean shared = space.getFileName().toString().equals(NODE);
        CacheLock changes = CacheLock.await(directory.resolve(CHANGES), CHANGES_MS, CacheAccess.USER);
        try {
            claim.close();
            if (!shared && !isUsed(space)) {
                PrivateFiles.delete(space);
            }
        } finally {
            changes.close();
            loads.close();
        }
    }

    @Override
    public String toString() {
        return space.toString();
    }
}
