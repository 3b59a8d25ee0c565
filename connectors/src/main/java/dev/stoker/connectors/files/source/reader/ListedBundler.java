package dev.stoker.connectors.files.source.reader;

import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.ListedKey;
import dev.stoker.connectors.files.PathBundle;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Cuts the sorted listing of each directory into numbered runs. Several directories may be in progress at once, but not
 * more than are being listed.
 */
final class ListedBundler implements Bundler {

    private final Consumer<PathBundle> output;
    private final Map<String, Listing> listings = new HashMap<>();

    ListedBundler(Consumer<PathBundle> output) {
        this.output = output;
    }

    @Override
    public void add(String directory, byte[] key, int keyLength, long size, long modifiedMs, long[] sidecars) {
        Listing listing = listings.computeIfAbsent(directory, Listing::new);
        listing.run.add(key, keyLength, size, modifiedMs, sidecars);
        if (listing.run.length() >= BUNDLE_BYTES) {
            listing.flush();
        }
    }

    @Override
    public void endDirectory(String directory) {
        Listing listing = listings.remove(directory);
        if (listing != null) {
            listing.flush();
        }
    }

    @Override
    public void flush() {
        listings.values().forEach(Listing::flush);
    }

    /** The listing of one directory. */
    private final class Listing {

        private final byte[] sortable;
        private final FileEntries.Writer run = new FileEntries.Writer(512);
        private int number;

        Listing(String directory) {
            sortable = ListedKey.sortable(directory);
        }

        void flush() {
            if (run.length() > 0) {
                output.accept(new PathBundle(
                        PathBundle.Kind.FILES, number++, sortable, run.count(), run.bytes(), run.take()));
            }
        }
    }
}
