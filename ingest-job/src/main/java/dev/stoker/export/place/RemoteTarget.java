package dev.stoker.export.place;

import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A prefix of an object store, or a directory of HDFS. Each file appears whole under its name. The export is complete
 * when {@code _SUCCESS} exists, which is written last. {@value #CLAIM} exists while it is not.
 */
final class RemoteTarget implements ExportTarget {
    /** Created first, so that two exports cannot write to the same place. */
    static final String CLAIM = "_EXPORTING";

    private final TargetLocation place;
    private final ObjectStore store;

    RemoteTarget(TargetLocation place) throws IOException {
        this.place = place;
        this.store = Stores.open(place.location());
    }

    @Override
    public void check() throws IOException {
        if (!has("")) {
            return;
        }
        boolean isUnfinished = has(CLAIM);
        boolean isExport = isUnfinished
                || SuccessFile.read(store).map(SuccessFile::isOfExport).orElse(false);
        if (!isExport) {
            throw new InvalidExportException(
                    "the target " + place.location() + " is not empty; choose another directory");
        }
        if (place.existing() == TargetLocation.Existing.REFUSE) {
            throw new InvalidExportException("the target " + place.location()
                    + (isUnfinished
                            ? " has an export that is running or was interrupted; when it does not run any more,"
                                    + " replace it with --overwrite"
                            : " already has an export; replace it with --overwrite"));
        }
    }

    /** Returns whether there is an object whose name starts with this. */
    private boolean has(String name) throws IOException {
        try (ObjectIterator objects = store.list(name)) {
            return objects.hasNext();
        }
    }

    @Override
    public void begin() throws IOException {
        check();
        // Readers must not take the new files for the earlier export.
        store.delete(SUCCESS);
        clear();
        if (!store.createIfAbsent(CLAIM, place.export().getBytes(StandardCharsets.UTF_8))) {
            throw new InvalidExportException(
                    "another export to " + place.location() + " has begun meanwhile; choose another target");
        }
    }

    private void clear() throws IOException {
        deleteUnfinished();
        List<ObjectInfo> objects = new ArrayList<>();
        try (ObjectIterator all = store.list("")) {
            while (all.hasNext()) {
                objects.add(all.next());
            }
        }
        for (ObjectInfo object : objects) {
            store.delete(object.name());
        }
    }

    @Override
    public ObjectStore files() {
        return store;
    }

    @Override
    public void commit(byte[] description) throws IOException {
        deleteUnfinished();
        store.createIfAbsent(SUCCESS, description);
        if (committed().isEmpty()) {
            throw new IOException("another export to " + place.location() + " is complete; this one is discarded");
        }
        store.delete(CLAIM);
    }

    @Override
    public Optional<byte[]> committed() throws IOException {
        return SuccessFile.read(store).filter(content -> SuccessFile.isOf(content, place.export()));
    }

    @Override
    public void abandon() throws IOException {
        if (committed().isEmpty()) {
            clear();
        }
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
