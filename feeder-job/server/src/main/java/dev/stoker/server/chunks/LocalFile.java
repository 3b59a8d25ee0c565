package dev.stoker.server.chunks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * A file of this machine that another process may open, and its identity, which that process compares.
 *
 * @param path absolute
 * @param device device number
 * @param inode number on that device
 * @param length bytes
 */
public record LocalFile(String path, long device, long inode, long length) {
    /** What lies at a path; empty where the file system has no such numbers. */
    static Optional<LocalFile> of(Path path) throws IOException {
        try {
            Map<String, Object> found = Files.readAttributes(path, "unix:dev,ino,size");
            return Optional.of(new LocalFile(
                    path.toAbsolutePath().toString(),
                    number(found, "dev"),
                    number(found, "ino"),
                    number(found, "size")));
        } catch (UnsupportedOperationException | IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    private static long number(Map<String, Object> attributes, String name) {
        return ((Number) Objects.requireNonNull(attributes.get(name), name)).longValue();
    }
}
