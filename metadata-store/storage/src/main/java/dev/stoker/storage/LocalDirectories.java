package dev.stoker.storage;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Creates directories and makes their names durable. Thread-safe. */
final class LocalDirectories {

    private final LocalFiles files;
    private final Set<Path> durable = ConcurrentHashMap.newKeySet();

    LocalDirectories(LocalFiles files) {
        this.files = files;
    }

    /**
     * Creates the missing directories of the path, and forces the names of all directories that this process sees for
     * the first time.
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
        // Its creator may not have forced it yet, so its existence is not sufficient.
        forceIfAllowed(parent);
        durable.add(directory);
    }

    private void forceIfAllowed(Path parent) throws IOException {
        // Stoker did not create a parent without read permission, such as another user's home.
        if (Files.isReadable(parent)) {
            files.forceDirectory(parent);
        }
    }

    /** Forgets all directories seen before. */
    void forget() {
        durable.clear();
    }
}
