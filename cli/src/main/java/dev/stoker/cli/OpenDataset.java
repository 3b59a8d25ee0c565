package dev.stoker.cli;

import dev.stoker.flink.arguments.Spelling;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.NotADatasetException;
import dev.stoker.metadata.Snapshot;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A dataset that was given as an argument; the verb closes it. */
final class OpenDataset implements AutoCloseable {

    private static final Pattern WITH_VERSION = Pattern.compile("(.+)@([0-9]{1,18})");

    private final ObjectStore store;
    private final Dataset dataset;
    private final Optional<Long> version;

    private OpenDataset(ObjectStore store, Dataset dataset, Optional<Long> version) {
        this.store = store;
        this.dataset = dataset;
        this.version = version;
    }

    /**
     * Opens a dataset.
     *
     * @param text its directory or URI, optionally followed by {@code @}version
     * @param version the version given by an option, or null
     */
    static OpenDataset open(String text, @Nullable Long version) throws IOException {
        Optional<Long> chosen = Optional.ofNullable(version);
        String location = text;
        Matcher matcher = WITH_VERSION.matcher(text);
        if (matcher.matches() && (Stores.isRemote(text) || !Files.exists(Path.of(text)))) {
            location = matcher.group(1);
            long typed = Long.parseLong(matcher.group(2));
            if (version != null && version != typed) {
                throw new IllegalArgumentException(text + " and --version " + version + " give two versions");
            }
            chosen = Optional.of(typed);
        }
        location = Stores.normalize(location);
        if (!Stores.isRemote(location)) {
            requireDirectory(Stores.local(location), text);
        }
        ObjectStore store = Stores.open(location);
        try {
            return new OpenDataset(store, Dataset.open(store), chosen);
        } catch (NotADatasetException e) {
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
    static ObjectStore store(String text) throws IOException {
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
        Path parent = directory.getParent();
        if (parent != null && Files.isDirectory(parent)) {
            List<String> near = new ArrayList<>();
            try (DirectoryStream<Path> siblings = Files.newDirectoryStream(parent)) {
                for (Path sibling : siblings) {
                    if (isDataset(sibling) && Spelling.isNear(name(directory), name(sibling))) {
                        near.add(sibling.toString());
                    }
                }
            }
            if (!near.isEmpty()) {
                return "there is no directory " + directory + "; did you mean " + String.join(" or ", near) + "?";
            }
        }
        return "there is no directory " + directory;
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

    Dataset dataset() {
        return dataset;
    }

    /** Rejects a version in the name of a dataset that a verb changes. */
    void requireNoVersion(String verb) {
        if (version.isPresent()) {
            throw new IllegalArgumentException(verb + " changes the newest version; leave out @" + version.get());
        }
    }

    /** Returns the requested version, or else the newest. */
    Snapshot snapshot() throws IOException {
        return version.isPresent() ? dataset.snapshot(version.get()) : dataset.snapshot();
    }

    @Override
    public void close() throws IOException {
        store.close();
    }
}
