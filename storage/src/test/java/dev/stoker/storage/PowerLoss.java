package dev.stoker.storage;

import java.io.IOException;
import java.nio.file.Path;

/** A local store whose machine may lose its power. */
public final class PowerLoss {

    private final Path root;
    private final PowerLossFiles files = new PowerLossFiles();

    /** @param root a directory that exists and counts as durable */
    public PowerLoss(Path root) {
        this.root = root;
    }

    /** A store below the root. */
    public ObjectStore store(String directory) {
        return new LocalObjectStore(root.resolve(directory), files);
    }

    /** Undoes what was not forced to disk. */
    public void strike() throws IOException {
        files.losePower(root);
    }
}
