package dev.stoker.ingest.pack;

import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.schemas.order.KeyHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;

/**
 * Finishes the shuffle: Flink's sort groups the bundles by bucket, and this class sorts the files of a bucket by their
 * hashes. Holds one bucket, and detects keys that occur twice or that the dataset already has. For one thread.
 */
final class BucketSort {

    private record Hashed(long hash, FileEntry file, boolean isTaken) {}

    private static final Comparator<Hashed> ORDER = (a, b) -> {
        int order = Long.compareUnsigned(a.hash(), b.hash());
        return order != 0
                ? order
                : Arrays.compareUnsigned(a.file().key(), b.file().key());
    };

    private final long seed;
    private final Consumer<FileEntry> output;
    private final List<Hashed> bucket = new ArrayList<>();
    private final List<FileEntry> decoded = new ArrayList<>();
    private int place = -1;

    BucketSort(long seed, Consumer<FileEntry> output) {
        this.seed = seed;
        this.output = output;
    }

    /** Adds a bundle; the bundles of one bucket arrive in sequence. */
    void add(PathBundle bundle) throws TakenKeyException {
        if (bundle.place() != place) {
            flush();
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
    void flush() throws TakenKeyException {
        bucket.sort(ORDER);
        Hashed before = null;
        for (Hashed entry : bucket) {
            if (before != null
                    && before.hash() == entry.hash()
                    && Arrays.equals(before.file().key(), entry.file().key())) {
                refuse(before, entry);
            }
            before = entry;
        }
        for (Hashed entry : bucket) {
            if (!entry.isTaken()) {
                output.accept(entry.file());
            }
        }
        bucket.clear();
    }

    private static void refuse(Hashed one, Hashed other) throws TakenKeyException {
        if (one.isTaken() && other.isTaken()) {
            // Both keys are in the dataset, so this ingest did not cause the duplicate.
            return;
        }
        String key = one.file().path();
        if (one.isTaken() || other.isTaken()) {
            // The size of an entry for a taken key is the chunk's ordinal.
            long ordinal = (one.isTaken() ? one : other).file().size();
            throw TakenKeyException.inDataset(key, "chunk " + ordinal);
        }
        throw TakenKeyException.twice(key);
    }
}
