package dev.stoker.cli.samples;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Searches for datasets below a location that is not a dataset. */
final class RemoteDatasets {

    /** The most datasets that an error lists. */
    private static final int NAMED = 5;
    /** The most objects to list; a bucket may contain any number. */
    private static final int LISTED = 2000;

    private RemoteDatasets() {}

    /** Returns some datasets below, if the search finds them soon; an empty list if the location cannot be listed. */
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
