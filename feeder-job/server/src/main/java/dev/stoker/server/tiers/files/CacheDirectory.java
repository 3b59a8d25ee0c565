package dev.stoker.server.tiers.files;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** A directory of disk tiers, as people look after it. Any number of processes may do so at once. */
public final class CacheDirectory {

    /**
     * What one feed keeps there, or all feeds of the machine together.
     *
     * @param name {@code node}, or the id of a feed
     * @param chunks that lie there
     * @param bytes of those
     * @param used whether a running feed uses it
     * @param claimed when a feed has last begun to use it, or ended
     */
    public record Space(String name, int chunks, long bytes, boolean used, Instant claimed) {}

    private final Path path;

    public CacheDirectory(Path path) {
        this.path = path;
    }

    /**
     * What lies there; files that are not a tier's do not count.
     *
     * @throws IOException if the directory cannot be read
     */
    public List<Space> spaces() throws IOException {
        List<Space> spaces = new ArrayList<>();
        for (Path space : CacheSpace.spaces(path)) {
            Map<?, Long> chunks = CacheSpace.list(space);
            spaces.add(new Space(
                    space.getFileName().toString(),
                    chunks.size(),
                    chunks.values().stream().mapToLong(Long::longValue).sum(),
                    CacheSpace.isUsed(space),
                    Files.getLastModifiedTime(space).toInstant()));
        }
        return spaces;
    }

    /**
     * Removes the files of chunks that were erased from their dataset, also from spaces that running feeds use: no
     * version has these chunks.
     *
     * @return the removed files
     */
    public List<Path> purge(Set<UUID> chunks) throws IOException {
        List<Path> removed = new ArrayList<>();
        for (Path file : files(chunks)) {
            if (Files.deleteIfExists(file)) {
                removed.add(file);
            }
        }
        return removed;
    }

    /** Returns the files of these chunks in all spaces. */
    public List<Path> files(Set<UUID> chunks) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path space : CacheSpace.spaces(path)) {
            for (UUID chunk : CacheSpace.list(space).keySet()) {
                if (chunks.contains(chunk)) {
                    files.add(CacheSpace.path(space, chunk));
                }
            }
        }
        return files;
    }

    /**
     * Removes a space, unless a running feed uses it.
     *
     * @return whether it was removed
     */
    public boolean clear(Space space) throws IOException {
        return CacheSpace.clear(path, path.resolve(space.name()));
    }
}
