package dev.stoker.cli;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Looks for datasets below a location that is none. */
final class RemoteDatasets {

    /** Datasets named in an error. */
    private static final int NAMED = 5;
    /** Objects looked at; a bucket may hold any number. */
    private static final int LISTED = 2000;

    private RemoteDatasets() {}

    /** Some datasets below, if they are found soon; nothing if the location cannot be listed. */
    static List<String> below(ObjectStore store) {
        List<String> found = new ArrayList<>();
        String ending = "/" + DatasetLayout.DATASET_JSON;
        try (ObjectIterator objects = store.list("")) {
            for (int i = 0; i < LISTED && found.size() < NAMED && objects.hasNext(); i++) {
                String name = objects.next().name();
                if (name.endsWith(ending)) {
                    found.add(store.describe(name.substring(0, name.length() - ending.length())));
                }
            }
        } catch (IOException e) {
            return List.of();
        }
        return found;
    }
}
