package dev.stoker.storage;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Directories that exist and whose names are durable. Thread-safe. */
final class LocalDirectories {

    private final LocalFiles files;
    private final Set<Path> durable = ConcurrentHashMap.newKeySet();

    LocalDirectories(LocalFiles files) {
        this.files = files;
    }

    /**
     * Creates the missing directories of the path, and makes the names of all directories durable that this process
     * sees for the first time.
     */
    void ensure(Path directory) throws IOException {
        if (durable.contains(directory)) {
            return;
        }
        Path parent = directory.getParent();
        if (parent == null) {
            return;
        }
        if (!Files.isDirectory(directory)) {
            ensure(parent);
            try {
                files.createDirectory(directory);
            } catch (FileAlreadyExistsException e) {
                if (!Files.isDirectory(directory)) {
                    throw e;
                }
            }
        }
        // The process that created it may not have made it durable yet, so its existence is not enough.
        forceIfAllowed(parent);
        durable.add(directory);
    }

    private void forceIfAllowed(Path parent) throws IOException {
        // A parent that is not even readable, such as another user's home, was not created by Stoker.
        if (Files.isReadable(parent)) {
            files.forceDirectory(parent);
        }
    }

    /** Forgets all directories seen before. */
    void forget() {
        durable.clear();
    }
}
