package dev.stoker.bench.storage;

import dev.stoker.bench.measure.Progress;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * The objects that a measurement reads: its own, in a folder that {@link #close} removes, or the chunks of a dataset,
 * which it only reads. For one thread.
 */
final class TestFiles implements Closeable {

    /** Prefix of the names of folders. A folder without a running measurement can be deleted. */
    static final String FOLDER = "stoker-bench-";

    private static final int PART_BYTES = 4 << 20;
    /** Each open file costs a descriptor. */
    private static final int MOST_CHUNKS = 256;
    /** Space that a measurement leaves to others. */
    private static final long RESERVE_BYTES = 64L << 20;

    private final ObjectStore store;
    private final String folder;
    private final List<TestFile> files = new ArrayList<>();
    private long writeNanos;

    private TestFiles(ObjectStore store, String folder) {
        this.store = store;
        this.folder = folder;
    }

    /** Takes chunks of a dataset, evenly from the newest version. */
    static TestFiles ofDataset(Dataset dataset) throws IOException {
        ChunkTable table = dataset.snapshot().table();
        List<Integer> live = new ArrayList<>();
        for (int chunk = 0; chunk < table.size(); chunk++) {
            if (table.isLive(chunk)) {
                live.add(chunk);
            }
        }
        if (live.isEmpty()) {
            throw new StokerException("the dataset " + dataset.where() + " has no chunk to read");
        }
        TestFiles taken = new TestFiles(dataset.store(), "");
        int count = Math.min(live.size(), MOST_CHUNKS);
        for (int i = 0; i < count; i++) {
            int chunk = live.get((int) ((long) i * live.size() / count));
            taken.files.add(new TestFile(ChunkNames.path(table.id(chunk)), table.length(chunk)));
        }
        return taken;
    }

    /** Returns an empty folder for own files. */
    static TestFiles inFolder(ObjectStore store) {
        return new TestFiles(store, FOLDER + UUID.randomUUID() + "/");
    }

    /** @throws StokerException if this is no directory of this machine */
    static void requireDirectory(Path directory) throws StokerException {
        if (!Files.isDirectory(directory)) {
            throw new StokerException(
                    Files.exists(directory)
                            ? directory + " is a file; expected a directory, or a dataset"
                            : "there is no directory " + directory + "; create it, or give another one");
        }
    }

    /**
     * Checks the free space of a directory of this machine.
     *
     * @throws StokerException if it is not enough
     */
    static void requireSpace(Path directory, long bytes) throws IOException {
        long free = Files.getFileStore(directory).getUsableSpace();
        if (free < bytes + RESERVE_BYTES) {
            throw new StokerException(directory + " has " + Units.bytes(free) + " of free space; expected "
                    + Units.bytes(bytes + RESERVE_BYTES) + " for the test files; use a smaller --size");
        }
    }

    /**
     * Writes files of random bytes, which no store can compress; ends early if the user stops the measurement.
     *
     * @param bytes of all files
     * @param fileBytes of one file; the last one can be smaller
     */
    void write(long bytes, long fileBytes, Progress progress) throws IOException {
        SplittableRandom random = new SplittableRandom(bytes);
        byte[] part = new byte[(int) Math.min(PART_BYTES, bytes)];
        for (long left = bytes; left > 0 && !progress.isStopped(); left -= Math.min(left, fileBytes)) {
            long length = Math.min(left, fileBytes);
            String name = folder + "data/" + files.size();
            try (ObjectWriter writer = store.write(name)) {
                while (writer.position() < length && !progress.isStopped()) {
                    random.nextBytes(part);
                    int size = (int) Math.min(part.length, length - writer.position());
                    long began = System.nanoTime();
                    writer.write(ByteBuffer.wrap(part, 0, size));
                    writeNanos += System.nanoTime() - began;
                }
                if (writer.position() == length) {
                    long began = System.nanoTime();
                    writer.commit();
                    writeNanos += System.nanoTime() - began;
                    files.add(new TestFile(name, length));
                }
            }
        }
    }

    List<TestFile> files() {
        return files;
    }

    long bytes() {
        return files.stream().mapToLong(TestFile::length).sum();
    }

    /** Bytes a second of {@link #write}, with the final synchronization; 0 if nothing was written. */
    double writeRate() {
        return writeNanos == 0 ? 0 : bytes() * 1e9 / writeNanos;
    }

    /** Whether the files belong to the measurement. */
    boolean areOwn() {
        return !folder.isEmpty();
    }

    /** Where the files are, relative to the store; ends with a slash. */
    String folder() {
        return folder;
    }

    /** The files as paths of this machine; nothing for a remote store. */
    Optional<List<Path>> paths() {
        List<Path> paths = new ArrayList<>();
        for (TestFile file : files) {
            Optional<Path> path = store.localPath(file.name());
            if (path.isEmpty()) {
                return Optional.empty();
            }
            paths.add(path.get());
        }
        return Optional.of(paths);
    }

    /** Removes own files. */
    @Override
    public void close() throws IOException {
        if (!areOwn()) {
            return;
        }
        List<String> names = new ArrayList<>();
        try (ObjectIterator all = store.list(folder)) {
            while (all.hasNext()) {
                ObjectInfo object = all.next();
                names.add(object.name());
            }
        }
        for (String name : names) {
            store.delete(name);
        }
        // A store keeps the directories of its objects.
        for (String directory : List.of("data", "meta")) {
            Optional<Path> path = store.localPath(folder + directory);
            if (path.isPresent()) {
                delete(path.get());
            }
        }
        Optional<Path> own = store.localPath(folder.substring(0, folder.length() - 1));
        if (own.isPresent()) {
            delete(own.get());
        }
    }

    private static void delete(Path directory) throws IOException {
        try {
            Files.delete(directory);
        } catch (NoSuchFileException e) {
            // Nothing was written there.
        }
    }
}
