package dev.stoker.metadata.index.build;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A private temporary directory. It and its files are deleted on close. Thread-safe. */
final class Scratch implements Closeable {

    private final Path directory;

    /** Guarded by this. */
    private final List<Path> files = new ArrayList<>();

    /** Guarded by this. */
    private final List<Closeable> others = new ArrayList<>();

    Scratch() throws IOException {
        directory = Files.createTempDirectory("stoker-index-");
    }

    /** Returns the path of a new file, which does not exist yet. */
    synchronized Path newFile() {
        Path file = directory.resolve(Integer.toString(files.size()));
        files.add(file);
        return file;
    }

    /** Registers what else is deleted on close. */
    synchronized void onClose(Closeable other) {
        others.add(other);
    }

    @Override
    public synchronized void close() throws IOException {
        for (Closeable other : others) {
            other.close();
        }
        others.clear();
        for (Path file : files) {
            Files.deleteIfExists(file);
        }
        files.clear();
        Files.deleteIfExists(directory);
    }
}
