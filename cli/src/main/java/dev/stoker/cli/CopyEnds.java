package dev.stoker.cli;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetReference;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;

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
            return new CopyEnds(source, from, Stores.open(location), location);
        } catch (IOException | RuntimeException e) {
            source.close();
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
