package dev.stoker.connectors.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.apache.flink.api.java.functions.KeySelector;

/**
 * The sort key of a listing: the directory with its parts ended by the byte 0, then the number of the run. Compared
 * byte by byte it puts a directory before what is below it, and that before the directory's next sibling.
 */
public final class ListedKey {

    /** Takes the key out of a bundle. */
    public static final class Selector implements KeySelector<PathBundle, ListedKey> {
        private static final long serialVersionUID = 1;

        @Override
        public ListedKey getKey(PathBundle bundle) {
            return new ListedKey(bundle.directory(), bundle.place());
        }
    }

    private final byte[] directory;
    private final int run;

    ListedKey(byte[] directory, int run) {
        this.directory = directory;
        this.run = run;
    }

    byte[] directory() {
        return directory;
    }

    int run() {
        return run;
    }

    /** A path whose bytes sort in the order of a tree walk; file names cannot contain the byte 0. */
    public static byte[] sortable(String directory) {
        byte[] bytes = directory.getBytes(UTF_8);
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '/') {
                bytes[i] = 0;
            }
        }
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ListedKey key && key.run == run && Arrays.equals(key.directory, directory);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(directory) + run;
    }
}
