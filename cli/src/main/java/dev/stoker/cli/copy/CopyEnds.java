package dev.stoker.cli.copy;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.ingest.spec.FreeTarget;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The source and the target of a copy; the verb closes them. */
final class CopyEnds implements AutoCloseable {

    private final OpenDataset source;
    private final String sourceText;
    private final ObjectStore target;
    private final String targetText;

    private CopyEnds(OpenDataset source, String sourceText, ObjectStore target, String targetText) {
        this.source = source;
        this.sourceText = sourceText;
        this.target = target;
        this.targetText = targetText;
    }

    /**
     * Opens both ends. The target need not exist.
     *
     * @param from directory or URI of the source, optionally followed by {@code @}version
     * @param to directory or URI of the target
     */
    static CopyEnds open(String from, VersionOptions version, String to) throws IOException {
        if (DatasetReference.withoutSplit(to).version().isPresent()) {
            throw new IllegalArgumentException("the target gets the versions of the source; leave out @"
                    + DatasetReference.withoutSplit(to).version().get());
        }
        String location = Stores.normalize(to);
        OpenDataset source = OpenDataset.open(from, version);
        try {
            if (location.equals(source.dataset().where())) {
                throw new IllegalArgumentException("source and target are both " + location);
            }
            return new CopyEnds(source, from, target(location), location);
        } catch (IOException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /** Opens the target, which is a dataset, a killed copy, empty, or absent. */
    private static ObjectStore target(String location) throws IOException {
        if (!Stores.isRemote(location)) {
            for (Path path = Stores.local(location); path != null; path = path.getParent()) {
                if (Files.exists(path) && !Files.isDirectory(path)) {
                    throw new IllegalArgumentException(
                            "the target " + location + ": " + path + " is a file; give a directory");
                }
            }
        }
        ObjectStore store = Stores.open(location);
        try {
            store.length(DatasetLayout.DATASET_JSON);
            return store;
        } catch (NoSuchObjectException e) {
            requireFree(location, store);
            return store;
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private static void requireFree(String location, ObjectStore store) throws IOException {
        try {
            FreeTarget.require(location, store);
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    OpenDataset source() {
        return source;
    }

    Dataset dataset() {
        return source.dataset();
    }

    ObjectStore target() {
        return target;
    }

    String where() {
        return targetText;
    }

    /** Returns the end that needs more threads. */
    String remoteOne() {
        return Stores.isRemote(sourceText) ? sourceText : targetText;
    }

    @Override
    public void close() throws IOException {
        try {
            target.close();
        } finally {
            source.close();
        }
    }
}
