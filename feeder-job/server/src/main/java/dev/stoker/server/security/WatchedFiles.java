package dev.stoker.server.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;

/**
 * Detects that files were rewritten or replaced, also through the symbolic links of a Kubernetes secret. Guarded by its
 * owner's lock.
 */
final class WatchedFiles {
    /** Minimum interval between two checks of the files. */
    static final Duration INTERVAL = Duration.ofSeconds(1);

    private final List<Path> files;
    private List<Object> seen;
    private long lookedNanos;

    /** Starts to watch files, with their present state as the known one. */
    WatchedFiles(List<Path> files) {
        this.files = List.copyOf(files);
        this.seen = stamps();
        this.lookedNanos = System.nanoTime();
    }

    /** Returns whether a file has changed since this method last returned true. Call it before reading the files. */
    boolean changed() {
        long now = System.nanoTime();
        if (now - lookedNanos < INTERVAL.toNanos()) {
            return false;
        }
        lookedNanos = now;
        List<Object> stamps = stamps();
        if (stamps.equals(seen)) {
            return false;
        }
        seen = stamps;
        return true;
    }

    private List<Object> stamps() {
        return files.stream().map(WatchedFiles::stamp).toList();
    }

    private static Object stamp(Path file) {
        try {
            BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
            return List.of(found.size(), found.lastModifiedTime(), String.valueOf(found.fileKey()));
        } catch (IOException e) {
            return "absent";
        }
    }
}
