package dev.stoker.connectors.files.source.reader;

import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.WalkOrder;
import java.util.function.Consumer;

/** Groups files into bundles. For one thread. */
interface Bundler {

    /** A bundle is passed on when its entries have at least this many bytes. */
    int BUNDLE_BYTES = 4096;

    /**
     * Adds a file of a directory; the key is the directory's path and the name. Files of one directory arrive in the
     * order of its listing; files of several directories may be interleaved.
     */
    void add(String directory, byte[] key, int keyLength, long size, long modifiedMs, long[] sidecars);

    /** Ends a directory: no more of its files follow. */
    void endDirectory(String directory);

    /** Passes on the remaining files. */
    void flush();

    static Bundler of(WalkOrder order, Consumer<PathBundle> output) {
        if (order instanceof WalkOrder.Shuffled shuffled) {
            return new ShuffledBundler(shuffled.seed(), PathBundle.Kind.FILES, output);
        }
        return new ListedBundler(output);
    }
}
