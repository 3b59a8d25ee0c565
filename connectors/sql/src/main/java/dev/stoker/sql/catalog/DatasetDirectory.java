package dev.stoker.sql.catalog;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A directory whose subdirectories are datasets.
 *
 * @param location absolute path or URI
 */
record DatasetDirectory(String location) {

    DatasetDirectory {
        location = Stores.normalize(location);
    }

    /** Returns the names of the datasets, ascending. */
    List<String> list() throws IOException {
        List<String> names = new ArrayList<>();
        if (Stores.isRemote(location)) {
            try (SourceTree tree = Stores.openTree(location)) {
                List<String> directories = new ArrayList<>();
                tree.list("", entry -> {
                    if (entry.kind() == SourceTree.Kind.DIRECTORY) {
                        directories.add(entry.name());
                    }
                });
                for (String name : directories) {
                    if (isDataset(tree, name)) {
                        names.add(name);
                    }
                }
            }
        } else {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(Stores.local(location))) {
                for (Path entry : entries) {
                    if (Files.isRegularFile(entry.resolve(DatasetLayout.DATASET_JSON))) {
                        names.add(entry.getFileName().toString());
                    }
                }
            }
        }
        Collections.sort(names);
        return names;
    }

    /** Returns whether there is a dataset of this name. */
    boolean has(String name) throws IOException {
        if (name.isEmpty() || name.contains("/") || name.startsWith(".")) {
            return false;
        }
        if (Stores.isRemote(location)) {
            try (SourceTree tree = Stores.openTree(location)) {
                return isDataset(tree, name);
            }
        }
        return Files.isRegularFile(Stores.local(location).resolve(name).resolve(DatasetLayout.DATASET_JSON));
    }

    private static boolean isDataset(SourceTree tree, String name) throws IOException {
        return tree.find(name + "/" + DatasetLayout.DATASET_JSON).isPresent();
    }

    /** Returns the location of a dataset. */
    String locationOf(String name) {
        return location + "/" + name;
    }
}
