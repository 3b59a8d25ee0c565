package dev.stoker.metadata.files;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import dev.stoker.schemas.path.DirectoryPaths;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** The keys that begin with a text, as a directory. Thread-safe; a listing is for one thread. */
public final class SampleDirectory {

    private final SampleIndex index;
    private final List<String> names;
    private final String prefix;

    /** @param prefix the beginning of the keys: empty, or with a slash at its end, or the beginning of long parts */
    SampleDirectory(SampleIndex index, List<String> names, String prefix) {
        this.index = index;
        this.names = names;
        this.prefix = prefix;
    }

    /** Begins a listing of the files and directories in the directory, in the order of the bytes of their keys. */
    public Entries list() {
        return new Entries("/");
    }

    /** Begins a listing of all files below the directory, in the order of the bytes of their keys. */
    public Entries listAll() {
        return new Entries("");
    }

    /**
     * A listing. Reads the index while it advances. A key is listed before the keys below it, so the listing knows the
     * directories beside samples without a lookup for each.
     */
    public final class Entries {

        private final SampleListing listing;
        private final DirectoryPaths paths = new DirectoryPaths(this::has);
        private final boolean isDeep;

        /** The listed keys that the last entry begins with, the longest one first. */
        private final Deque<String> begun = new ArrayDeque<>();

        /** The name of the piece that was listed last. Long parts with the same piece follow each other. */
        private String piece = "";

        private Entries(String delimiter) {
            this.listing = index.list(prefix, delimiter);
            this.isDeep = delimiter.isEmpty();
        }

        /** Returns the next entry; empty at the end. */
        public Optional<SamplePath> next() throws IOException {
            while (true) {
                Optional<ListEntry> entry = listing.next();
                if (entry.isEmpty()) {
                    return Optional.empty();
                }
                Optional<SamplePath> shown = shown(entry.get());
                if (shown.isPresent()) {
                    return shown;
                }
            }
        }

        private boolean has(String key) throws IOException {
            return key.length() < prefix.length() ? index.stat(key).isPresent() : begun.contains(key);
        }

        private List<String> path(ListEntry entry) throws IOException {
            String key = entry.name();
            while (!begun.isEmpty() && !key.startsWith(begun.element())) {
                begun.remove();
            }
            if (entry.isPrefix()) {
                return paths.directory(key.substring(0, key.length() - 1));
            }
            List<String> path = paths.file(key);
            begun.push(key);
            return path;
        }

        private Optional<SamplePath> shown(ListEntry entry) throws IOException {
            List<String> all = path(entry);
            int depth = names.size();
            if (all.size() <= depth || !all.subList(0, depth).equals(names)) {
                // Not all keys with the text of a piece have long parts.
                return Optional.empty();
            }
            if (isDeep || all.size() == depth + 1) {
                return Optional.of(new SamplePath(all, entry.sample()));
            }
            if (all.get(depth).equals(piece)) {
                return Optional.empty();
            }
            piece = all.get(depth);
            return Optional.of(new SamplePath(all.subList(0, depth + 1), Optional.empty()));
        }
    }
}
