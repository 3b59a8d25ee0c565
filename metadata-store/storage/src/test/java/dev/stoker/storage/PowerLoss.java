package dev.stoker.storage;

import java.io.IOException;
import java.nio.file.Path;

/** A local store whose machine can lose power. */
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

    /**
     * Runs something, and lets the power fail before the file system's step of this number, counted from 0 over all
     * steps so far. Afterwards only data that was forced to disk exists.
     *
     * @return whether the power failed before the end
     */
    public boolean during(int step, Use use) throws IOException {
        files.failAtStep(step);
        boolean failed = false;
        try {
            use.run();
        } catch (PowerLossFiles.PowerFailure e) {
            failed = true;
        }
        strike();
        return failed;
    }

    /** How many steps of the file system were begun so far. */
    public int steps() {
        return files.steps();
    }

    /** Undoes all changes that were not forced to disk. */
    public void strike() throws IOException {
        files.losePower(root);
    }

    /** Something that uses the store. */
    public interface Use {
        void run() throws IOException;
    }
}
