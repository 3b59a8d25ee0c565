package dev.stoker.export.place;

import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.PrivateFiles;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory of a mounted file system. Files are written into a hidden directory beside it, which gets the name of the
 * target when it is complete. So readers see nothing or a complete export.
 */
final class LocalTarget implements ExportTarget {
    private static final Logger LOG = LoggerFactory.getLogger(LocalTarget.class);

    private static final String EXPORT = ".export-";
    private static final String REPLACED = ".replaced-by-";

    private final TargetLocation place;
    private final Path target;
    private final Path staging;
    private final Path replaced;
    private final ObjectStore files;

    LocalTarget(TargetLocation place) throws IOException {
        this.place = place;
        this.target = Stores.local(place.location());
        if (target.getFileName() == null) {
            throw new InvalidExportException("the target " + target + " is the root of the file system");
        }
        this.staging = target.resolveSibling(prefix(EXPORT) + place.export());
        this.replaced = target.resolveSibling(prefix(REPLACED) + place.export());
        this.files = Stores.open(staging.toString());
    }

    @Override
    public void check() throws IOException {
        if (isEmpty()) {
            return;
        }
        try (ObjectStore existing = Stores.open(target.toString())) {
            boolean isExport =
                    SuccessFile.read(existing).map(SuccessFile::isOfExport).orElse(false);
            if (!isExport) {
                throw new InvalidExportException(
                        "the target " + target + " is not empty; choose a directory that does not exist");
            }
            if (place.existing() == TargetLocation.Existing.REFUSE) {
                throw new InvalidExportException(
                        "the target " + target + " already has an export; replace it with --overwrite");
            }
        }
    }

    private boolean isEmpty() throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(target)) {
            Iterator<Path> any = entries.iterator();
            return !any.hasNext();
        } catch (NoSuchFileException e) {
            return true;
        } catch (NotDirectoryException e) {
            throw new InvalidExportException("the target " + target + " is a file; choose another directory");
        }
    }

    @Override
    public void begin() throws IOException {
        check();
        Files.createDirectories(staging);
    }

    @Override
    public List<String> others() throws IOException {
        Path parent = Objects.requireNonNull(target.getParent(), "the target is not the root");
        List<String> others = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent, this::isOfOther)) {
            entries.forEach(entry -> others.add(entry.toString()));
        }
        return others;
    }

    private boolean isOfOther(Path entry) {
        String name = String.valueOf(entry.getFileName());
        return Stream.of(staging, replaced).noneMatch(entry::equals)
                && (name.startsWith(prefix(EXPORT)) || name.startsWith(prefix(REPLACED)))
                && Files.isDirectory(entry);
    }

    private String prefix(String kind) {
        return "." + target.getFileName() + kind;
    }

    @Override
    public ObjectStore files() {
        return files;
    }

    @Override
    public void commit(byte[] description) throws IOException {
        if (committed().isPresent()) {
            // A task was repeated although the export was complete.
            PrivateFiles.delete(staging);
            return;
        }
        deleteUnfinished();
        files.createIfAbsent(SUCCESS, description);
        if (!isEmpty()) {
            check();
            Files.move(target, replaced, StandardCopyOption.ATOMIC_MOVE);
        }
        Files.move(staging, target, StandardCopyOption.ATOMIC_MOVE);
        Path parent = Objects.requireNonNull(target.getParent(), "the target is not the root");
        try (FileChannel directory = FileChannel.open(parent, StandardOpenOption.READ)) {
            directory.force(true);
        }
        if (Files.exists(replaced)) {
            deleteReplaced();
        }
    }

    /** The export is complete, so a failure only leaves files of the earlier one. */
    private void deleteReplaced() {
        try {
            PrivateFiles.delete(replaced);
        } catch (IOException e) {
            LOG.warn("The earlier export at {} was not deleted completely; delete it: {}", replaced, e.toString());
        }
    }

    @Override
    public Optional<byte[]> committed() throws IOException {
        try (ObjectStore existing = Stores.open(target.toString())) {
            return SuccessFile.read(existing).filter(content -> SuccessFile.isOf(content, place.export()));
        }
    }

    @Override
    public void abandon() throws IOException {
        PrivateFiles.delete(staging);
    }

    @Override
    public void close() throws IOException {
        files.close();
    }
}
