package dev.stoker.connectors.files;

import java.util.function.Consumer;

/** Groups files into bundles. For one thread. */
interface Bundler {

    /** A bundle is handed on when its entries have as many bytes. */
    int BUNDLE_BYTES = 4096;

    /**
     * Adds a file of a directory; the key is the directory's path and the name. Files of one directory come in the order of its
     * listing, those of several directories in any mixture.
     */
    void add(String directory, byte[] key, int keyLength, long size, long modifiedMs, long[] sidecars);

    /** No more files of the directory will come. */
    void endDirectory(String directory);

    /** Hands on what is left. */
    void flush();

    static Bundler of(WalkOrder order, Consumer<PathBundle> output) {
        if (order instanceof WalkOrder.Shuffled shuffled) {
            return new ShuffledBundler(shuffled.seed(), PathBundle.Kind.FILES, output);
        }
        return new ListedBundler(output);
    }
}
