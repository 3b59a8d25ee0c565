package dev.stoker.cli.samples;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.flink.arguments.Spelling;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** A dataset that was given as an argument; the verb closes it. */
public final class OpenDataset implements AutoCloseable {

    private final String location;
    private final ObjectStore store;
    private final Dataset dataset;
    private final Optional<VersionName> typed;
    private final Optional<VersionOptions> options;

    private OpenDataset(
            String location,
            ObjectStore store,
            Dataset dataset,
            Optional<VersionName> typed,
            Optional<VersionOptions> options) {
        this.location = location;
        this.store = store;
        this.dataset = dataset;
        this.typed = typed;
        this.options = options;
    }

    /**
     * Opens a dataset.
     *
     * @param text its directory or URI, optionally followed by {@code @}version
     */
    public static OpenDataset open(String text) throws IOException {
        return open(text, Optional.empty());
    }

    /**
     * Opens a dataset to read a version.
     *
     * @param text its directory or URI, optionally followed by {@code @}version
     * @param options the options that select the version
     */
    public static OpenDataset open(String text, VersionOptions options) throws IOException {
        return open(text, Optional.of(options));
    }

    private static OpenDataset open(String text, Optional<VersionOptions> options) throws IOException {
        DatasetReference reference = DatasetReference.withoutSplit(text);
        String location = reference.path();
        location = Stores.normalize(location);
        if (!Stores.isRemote(location)) {
            requireDirectory(Stores.local(location), text);
        }
        ObjectStore store = Stores.open(location);
        try {
            return new OpenDataset(location, store, Dataset.open(store), reference.version(), options);
        } catch (NotADatasetException e) {
            Optional<Path> around = Stores.isRemote(location) ? Optional.empty() : around(Stores.local(location));
            if (around.isPresent()) {
                store.close();
                throw new CommandException(
                        location + " is in the directory of the dataset " + around.get() + "; give that one");
            }
            List<String> below =
                    Stores.isRemote(location) ? RemoteDatasets.below(store) : below(Stores.local(location));
            store.close();
            throw below.isEmpty()
                    ? e
                    : new CommandException(location + " is not a dataset itself; there is " + String.join(", ", below));
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
    }

    /**
     * Opens the store of a dataset that may have lost its description.
     *
     * @param text its directory or URI
     */
    public static ObjectStore store(String text) throws IOException {
        String location = Stores.normalize(text);
        if (!Stores.isRemote(location)) {
            requireDirectory(Stores.local(location), text);
        }
        return Stores.open(location);
    }

    private static void requireDirectory(Path directory, String text) throws IOException {
        if (!Files.isDirectory(directory)) {
            throw new CommandException(missing(directory, text));
        }
    }

    private static String missing(Path directory, String text) throws IOException {
        if (Files.exists(directory)) {
            return directory + " is a file; a dataset is a directory";
        }
        Optional<FeedFile> feed = text.indexOf('/') < 0 ? FeedFile.find(text) : Optional.empty();
        if (feed.isPresent()) {
            return "there is no directory " + directory + "; " + text + " is a feed, of "
                    + feed.get().streams();
        }
        Optional<DatasetReference> split = DatasetReference.parse(text)
                .filter(reference -> reference.split().isPresent() && isDataset(Stores.local(reference.path())));
        if (split.isPresent()) {
            return "there is no directory " + directory + "; this command takes no split with the dataset "
                    + split.get().path() + ": leave out :" + split.get().split().get();
        }
        Optional<Path> around = around(directory);
        if (around.isPresent()) {
            return "there is no directory " + directory + "; the dataset around it is " + around.get();
        }
        Path parent = directory.getParent();
        if (parent != null && Files.isDirectory(parent)) {
            List<String> names = new ArrayList<>();
            try (DirectoryStream<Path> siblings = Files.newDirectoryStream(parent)) {
                for (Path sibling : siblings) {
                    if (isDataset(sibling)) {
                        names.add(name(sibling));
                    }
                }
            }
            List<String> near = Spelling.near(name(directory), names).stream()
                    .map(name -> parent.resolve(name).toString())
                    .toList();
            if (!near.isEmpty()) {
                return "there is no directory " + directory + "; did you mean " + String.join(" or ", near) + "?";
            }
        }
        return "there is no directory " + directory + "; check the path, or pack a dataset there with `stoker ingest`";
    }

    /** Returns the dataset of which a path is a part. */
    private static Optional<Path> around(Path path) {
        for (Path parent = path.toAbsolutePath().normalize().getParent(); parent != null; parent = parent.getParent()) {
            if (isDataset(parent)) {
                return Optional.of(parent);
            }
        }
        return Optional.empty();
    }

    private static List<String> below(Path directory) throws IOException {
        List<String> found = new ArrayList<>();
        try (DirectoryStream<Path> children = Files.newDirectoryStream(directory)) {
            for (Path child : children) {
                if (found.size() < 5 && isDataset(child)) {
                    found.add(child.toString());
                }
            }
        }
        return found;
    }

    private static boolean isDataset(Path directory) {
        return Files.isRegularFile(directory.resolve(DatasetLayout.DATASET_JSON));
    }

    private static String name(Path path) {
        return path.getFileName() == null ? "" : path.getFileName().toString();
    }

    public Dataset dataset() {
        return dataset;
    }

    /** Returns the directory or URI, as other machines know it. */
    public String location() {
        return location;
    }

    /** Rejects a version in the name of a dataset that a verb changes. */
    public void requireNoVersion(String verb) {
        if (typed.isPresent()) {
            throw new IllegalArgumentException(verb + " takes a dataset without a version; leave out @" + typed.get());
        }
    }

    /** Returns the requested version; empty for the newest. */
    public OptionalLong requested() throws IOException {
        return options.isPresent()
                ? options.get().in(dataset, typed)
                : typed.isPresent() ? OptionalLong.of(typed.get().in(dataset)) : OptionalLong.empty();
    }

    /** Returns the requested version, or else the newest. */
    public Snapshot snapshot() throws IOException {
        OptionalLong version = requested();
        return version.isPresent() ? dataset.snapshot(version.getAsLong()) : dataset.snapshot();
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
