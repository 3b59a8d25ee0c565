package dev.stoker.metadata.files;

import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.schemas.path.KeyPaths;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * The samples of a version, or of one split of it, as a tree of files. A directory exists because keys begin with its
 * path. Each sample and each directory has exactly one path: see {@link KeyPaths}. Thread-safe.
 */
public final class KeyTree {

    /** Makes a part long whose beginning is the text of a piece. */
    private static final String LONG = "x".repeat(KeyPaths.MAX_BYTES + 1);

    private final SampleIndex index;
    private final DirectoryPaths paths;

    public KeyTree(SampleIndex index) {
        this.index = index;
        this.paths = new DirectoryPaths(key -> index.stat(key).isPresent());
    }

    /** What a path names. */
    public sealed interface Found {

        /** A sample. */
        record File(SampleStat sample) implements Found {}

        /** A directory. */
        record Directory(SampleDirectory directory) implements Found {}
    }

    /** Returns the directory of all keys. */
    public SampleDirectory root() {
        return new SampleDirectory(index, List.of(), "");
    }

    /**
     * Returns what a path names; empty if nothing.
     *
     * @param names the names on the path, from the root on
     */
    public Optional<Found> find(List<String> names) throws IOException {
        if (names.isEmpty()) {
            return Optional.of(new Found.Directory(root()));
        }
        Optional<KeyPaths.Decoded> decoded = KeyPaths.decode(names);
        if (decoded.isEmpty()) {
            return Optional.empty();
        }
        String text = decoded.get().text();
        if (decoded.get().kind() == KeyPaths.Kind.PIECE) {
            return piece(names, text);
        }
        if (decoded.get().kind() == KeyPaths.Kind.PLAIN) {
            Optional<SampleStat> sample = index.stat(text);
            if (sample.isPresent()) {
                return paths.file(text).equals(names) ? Optional.of(new Found.File(sample.get())) : Optional.empty();
            }
        }
        boolean exists = index.list(text + "/", "").next().isPresent()
                && paths.directory(text).equals(names);
        return exists ? Optional.of(directory(names, text + "/")) : Optional.empty();
    }

    private Optional<Found> piece(List<String> names, String text) throws IOException {
        List<String> longer = paths.file(text + LONG);
        boolean exists = longer.size() > names.size()
                && longer.subList(0, names.size()).equals(names)
                && new SampleDirectory(index, names, text).list().next().isPresent();
        return exists ? Optional.of(directory(names, text)) : Optional.empty();
    }

    private Found directory(List<String> names, String prefix) {
        return new Found.Directory(new SampleDirectory(index, names, prefix));
    }
}
