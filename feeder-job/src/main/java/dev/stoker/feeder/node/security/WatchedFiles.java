package dev.stoker.feeder.node.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.List;

/**
 * Notices that files were rewritten or replaced, also through the symbolic links of a Kubernetes secret. Guarded by its
 * owner's lock.
 */
final class WatchedFiles {
    /** How often files are looked at, at most. */
    static final Duration INTERVAL = Duration.ofSeconds(1);

    private final List<Path> files;
    private List<Object> seen;
    private long lookedNanos;

    /** What is there now counts as seen. */
    WatchedFiles(List<Path> files) {
        this.files = List.copyOf(files);
        this.seen = stamps();
        this.lookedNanos = System.nanoTime();
    }

    /** Whether something is not as it was when this was last true; to be asked before the files are read. */
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
