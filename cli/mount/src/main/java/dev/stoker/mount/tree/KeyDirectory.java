package dev.stoker.mount.tree;

import dev.stoker.metadata.index.ListEntry;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleListing;
import java.io.IOException;
import java.util.Optional;

/** A directory of one version: the keys that begin with a text. */
final class KeyDirectory implements Node.Directory {

    private final OpenVersion version;
    private final String prefix;
    /** Where the part begins that the names show: before the end of the prefix in the directory of a piece. */
    private final int partBegin;

    private KeyDirectory(OpenVersion version, String prefix, int partBegin) {
        this.version = version;
        this.prefix = prefix;
        this.partBegin = partBegin;
    }

    /** Returns the directory of the keys that begin with a text, which is empty or ends with a slash. */
    static KeyDirectory of(OpenVersion version, String prefix) {
        return new KeyDirectory(version, prefix, prefix.length());
    }

    /** Returns the directory of the keys that continue a long part. */
    static KeyDirectory ofPiece(OpenVersion version, String prefix) {
        return new KeyDirectory(version, prefix, prefix.lastIndexOf('/') + 1);
    }

    @Override
    public long modifiedMs() {
        return version.committedMs();
    }

    /** Returns whether some key is in the directory. */
    boolean hasEntries() throws IOException {
        return new Entries().next().isPresent();
    }

    @Override
    public Listing list() {
        version.retain();
        return new Listing() {
            private final Entries entries = new Entries();

            @Override
            public Optional<Listed> next() throws IOException {
                return entries.next();
            }

            @Override
            public void close() {
                version.release();
            }
        };
    }

    /** Reads the index while it advances. */
    private final class Entries {

        private final SampleIndex index = version.index();
        private final SampleListing listing = index.list(prefix, "/");
        /** The piece whose directory was listed last. Long parts with the same piece follow each other. */
        private String piece = "";

        Optional<Listed> next() throws IOException {
            while (true) {
                Optional<ListEntry> entry = listing.next();
                if (entry.isEmpty()) {
                    return Optional.empty();
                }
                Optional<Listed> listed = listed(entry.get());
                if (listed.isPresent()) {
                    return listed;
                }
            }
        }

        private Optional<Listed> listed(ListEntry entry) throws IOException {
            String key = entry.name();
            int end = entry.isPrefix() ? key.length() - 1 : key.length();
            String part = key.substring(prefix.length(), end);
            if (partBegin < prefix.length() && (part.isEmpty() || !FileNames.isLong(key.substring(partBegin, end)))) {
                return Optional.empty();
            }
            if (FileNames.isLong(part)) {
                String begin = FileNames.firstPiece(part);
                if (begin.equals(piece)) {
                    return Optional.empty();
                }
                piece = begin;
                return Optional.of(new Listed(FileNames.ofPiece(begin), true));
            }
            if (!entry.isPrefix()) {
                return Optional.of(new Listed(FileNames.of(part), false));
            }
            boolean isTwin = index.stat(key.substring(0, end)).isPresent();
            return Optional.of(new Listed(isTwin ? FileNames.ofTwin(part) : FileNames.of(part), true))
                    .filter(listed -> !FileNames.isTooLong(listed.name()));
        }
    }
}
