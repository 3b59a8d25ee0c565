package dev.stoker.ingest.spec;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Refuses to create a dataset in a location that has other contents. */
public final class FreeTarget {

    /** The number of objects to list before a target counts as free; remains of a dead ingest are skipped. */
    private static final int LISTED = 10_000;

    private FreeTarget() {}

    /**
     * Requires that the location is empty, except for remains of a dead ingest.
     *
     * @throws InvalidIngestException if it has other contents
     */
    public static void require(String target, ObjectStore store) throws IOException {
        if (!Stores.isRemote(target)) {
            require(Stores.local(target));
            return;
        }
        try (ObjectIterator objects = store.list("")) {
            for (int i = 0; i < LISTED && objects.hasNext(); i++) {
                String name = objects.next().name();
                if (!name.startsWith("_stoker/") && !name.startsWith(DatasetLayout.CHUNKS)) {
                    throw taken(target, name);
                }
            }
        }
    }

    private static void require(Path target) throws IOException {
        for (Path parent = target.getParent(); parent != null; parent = parent.getParent()) {
            if (Files.isRegularFile(parent.resolve(DatasetLayout.DATASET_JSON))) {
                throw new InvalidIngestException(
                        "the target " + target + " is inside the dataset " + parent + "; give a directory outside it");
            }
        }
        if (!Files.isDirectory(target)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(target)) {
            for (Path entry : entries) {
                String name = entry.getFileName().toString();
                // Remains of an ingest that died while it created the dataset.
                if (!name.equals("_stoker") && !name.equals("chunks")) {
                    throw taken(target.toString(), name);
                }
            }
        }
    }

    private static InvalidIngestException taken(String target, String name) {
        return new InvalidIngestException("the target " + target + " is not a dataset and contains " + name
                + "; give a directory that is empty or does not exist yet");
    }
}
