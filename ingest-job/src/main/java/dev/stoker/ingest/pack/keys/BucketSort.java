package dev.stoker.ingest.pack.keys;

import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.schemas.order.KeyHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Finishes the shuffle: Flink's sort groups the bundles by bucket, and this class sorts the files of a bucket by their
 * hashes. Holds one bucket, and detects keys that occur twice. For one thread.
 */
public final class BucketSort {

    /** Takes the keys in the order of their hashes. */
    public interface Keys {
        /**
         * Takes a key of the source, of the dataset, or of both.
         *
         * @param file the file with this key, if any
         * @param taken the sample of the dataset with this key, if any
         */
        void key(@Nullable FileEntry file, @Nullable FileEntry taken) throws TakenKeyException;

        /** Returns the error for two files of the source with one key. A tree has each path once. */
        default TakenKeyException twice(FileEntry one, FileEntry other) {
            return KeyRefusals.OF_FILES.twice(one, other);
        }

        /** Ends a bucket. */
        default void endBucket() throws ExecutionException, InterruptedException {}

        /** Ends the keys. */
        default void end() throws ExecutionException, InterruptedException {}
    }

    private record Hashed(long hash, FileEntry file, boolean isTaken) {
        boolean hasKeyOf(Hashed other) {
            return hash == other.hash && Arrays.equals(file.key(), other.file.key());
        }
    }

    private static final Comparator<Hashed> ORDER = (a, b) -> {
        int order = Long.compareUnsigned(a.hash(), b.hash());
        return order != 0
                ? order
                : Arrays.compareUnsigned(a.file().key(), b.file().key());
    };

    private final long seed;
    private final Keys output;
    private final List<Hashed> bucket = new ArrayList<>();
    private final List<FileEntry> decoded = new ArrayList<>();
    private int place = -1;

    public BucketSort(long seed, Keys output) {
        this.seed = seed;
        this.output = output;
    }

    /** Adds a bundle; the bundles of one bucket arrive in sequence. */
    public void add(PathBundle bundle) throws TakenKeyException, ExecutionException, InterruptedException {
        if (bundle.place() != place) {
            endBucket();
            place = bundle.place();
        }
        FileEntries.decode(bundle, decoded);
        boolean isTaken = bundle.kind() == PathBundle.Kind.TAKEN;
        for (FileEntry file : decoded) {
            bucket.add(new Hashed(KeyHash.hash(seed, file.key()), file, isTaken));
        }
        decoded.clear();
    }

    /** Passes on the last bucket. */
    public void flush() throws TakenKeyException, ExecutionException, InterruptedException {
        endBucket();
        output.end();
    }

    private void endBucket() throws TakenKeyException, ExecutionException, InterruptedException {
        bucket.sort(ORDER);
        int from = 0;
        while (from < bucket.size()) {
            int to = from + 1;
            while (to < bucket.size() && bucket.get(to).hasKeyOf(bucket.get(from))) {
                to++;
            }
            pass(bucket.subList(from, to));
            from = to;
        }
        bucket.clear();
        output.endBucket();
    }

    /** Passes on a key. If the dataset has the key twice, this ingest did not cause the duplicate. */
    private void pass(List<Hashed> same) throws TakenKeyException {
        FileEntry taken = null;
        FileEntry file = null;
        for (Hashed entry : same) {
            if (entry.isTaken()) {
                taken = entry.file();
            } else if (file != null) {
                throw output.twice(file, entry.file());
            } else {
                file = entry.file();
            }
        }
        output.key(file, taken);
    }
}
