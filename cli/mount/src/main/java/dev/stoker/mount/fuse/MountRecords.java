package dev.stoker.mount.fuse;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The files that say which mounts this user has, so that {@code stoker unmount} can clean up after a process that died:
 * it ends the mount and the uses of versions. Thread-safe.
 */
public final class MountRecords {

    private static final String SUFFIX = ".properties";
    private static final String DIRECTORY = "directory";
    private static final String PROCESS = "process";
    private static final String DATASET = "dataset.";

    private final Path folder;

    /** @param folder the directory of the files; created when it is needed */
    public MountRecords(Path folder) {
        this.folder = folder;
    }

    /**
     * A mount.
     *
     * @param id the id that has its uses
     * @param directory the mount point
     * @param process the process that serves it, from {@link WriterProcess#current}
     * @param datasets directories and URIs
     */
    public record Entry(UUID id, Path directory, String process, List<String> datasets) {

        /** Creates the record of a mount of this process. */
        public static Entry ofThisProcess(UUID id, Path directory, List<String> datasets) throws IOException {
            return new Entry(id, MountPoints.real(directory), WriterProcess.current(), datasets);
        }
    }

    /** Writes the record of a mount, before its first use. */
    public void add(Entry record) throws IOException {
        Properties properties = new Properties();
        properties.setProperty(DIRECTORY, record.directory().toString());
        properties.setProperty(PROCESS, record.process());
        for (int i = 0; i < record.datasets().size(); i++) {
            properties.setProperty(DATASET + i, record.datasets().get(i));
        }
        PrivateFiles.createDirectories(folder);
        StringWriter text = new StringWriter();
        properties.store(text, null);
        Path written = folder.resolve(record.id() + ".new");
        try (Writer writer = Files.newBufferedWriter(written, StandardCharsets.UTF_8)) {
            writer.write(text.toString());
        }
        Files.move(written, folder.resolve(record.id() + SUFFIX));
    }

    /** Removes the record of a mount that has ended with its uses. */
    public void remove(UUID id) throws IOException {
        Files.deleteIfExists(folder.resolve(id + SUFFIX));
    }

    /** Returns the records of a directory: one, or none, or several of processes that died. */
    List<Entry> of(Path directory) throws IOException {
        List<Entry> found = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return found;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path file : files) {
                read(file)
                        .filter(record -> record.directory().equals(directory))
                        .ifPresent(found::add);
            }
        }
        return found;
    }

    private static Optional<Entry> read(Path file) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
            properties.load(reader);
        }
        String name = String.valueOf(file.getFileName());
        String directory = properties.getProperty(DIRECTORY);
        if (directory == null) {
            return Optional.empty();
        }
        List<String> datasets = new ArrayList<>();
        for (int i = 0; properties.containsKey(DATASET + i); i++) {
            datasets.add(properties.getProperty(DATASET + i));
        }
        try {
            return Optional.of(new Entry(
                    UUID.fromString(name.substring(0, name.length() - SUFFIX.length())),
                    Path.of(directory),
                    properties.getProperty(PROCESS, ""),
                    datasets));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /**
     * Unmounts a directory, and ends what a process that died has left: uses and records.
     *
     * @param progress receives lines about what was done or could not be done
     * @return whether there was something to end
     * @throws StokerException if the directory is a mount of something else, or cannot be unmounted
     */
    public boolean unmount(Path given, Consumer<String> progress) throws IOException {
        Path directory = MountPoints.real(given);
        Optional<MountPoints.Mounted> mounted = MountPoints.at(directory);
        if (mounted.isPresent()) {
            if (!mounted.get().isOurs()) {
                throw new StokerException(directory + " is a mount of "
                        + mounted.get().source() + " (" + mounted.get().type() + "), not of Stoker");
            }
            MountPoints.unmount(directory);
        }
        List<Entry> records = of(directory);
        for (Entry record : records) {
            // A process that lives ends its uses as soon as its last file is closed.
            if (WriterProcess.hasEnded(record.process())) {
                clean(record, progress);
            }
        }
        return mounted.isPresent() || !records.isEmpty();
    }

    /**
     * Cleans up a mount point whose process died, so that it can be mounted again.
     *
     * @return whether there was one
     */
    public boolean cleanDead(Path given, Consumer<String> progress) throws IOException {
        Path directory = MountPoints.real(given);
        List<Entry> dead = of(directory);
        dead.removeIf(record -> !WriterProcess.hasEnded(record.process()));
        if (dead.isEmpty()) {
            return false;
        }
        if (dead.size() == of(directory).size()
                && MountPoints.at(directory).filter(MountPoints.Mounted::isOurs).isPresent()) {
            MountPoints.unmount(directory);
        }
        for (Entry record : dead) {
            clean(record, progress);
        }
        return true;
    }

    private void clean(Entry record, Consumer<String> progress) throws IOException {
        boolean isClean = true;
        for (String location : record.datasets()) {
            try (ObjectStore store = Stores.open(location)) {
                new VersionUses(Dataset.open(store)).release(record.id());
            } catch (IOException | RuntimeException e) {
                isClean = false;
                progress.accept("the versions of " + location + " are still protected from stoker expire ("
                        + ErrorText.of(e) + "); end that with stoker expire " + ShellText.word(location)
                        + " --end-feed "
                        + record.id() + " --yes");
            }
        }
        if (isClean) {
            remove(record.id());
        }
    }
}
