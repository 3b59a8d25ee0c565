package dev.stoker.ingest.pack;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.schemas.order.KeyHash;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finishes the shuffle: Flink's sort groups the bundles by bucket, and this class sorts the files of a bucket by their
 * hashes. Holds one bucket. Detects keys that occur twice, and decides about keys that the dataset already has. For one
 * thread.
 */
final class BucketSort {

    /** Takes the files, in order. */
    interface Output {
        /** @param replaces the sample of the dataset that the file replaces, if any */
        void file(FileEntry file, @Nullable StoredRow replaces);
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
    private final OnDuplicate onDuplicate;
    private final SkipCounts skipped;
    private final Output output;
    private final List<Hashed> bucket = new ArrayList<>();
    private final List<FileEntry> decoded = new ArrayList<>();
    private int place = -1;

    /** Creates a sort that refuses keys that the dataset already has. */
    BucketSort(long seed, Output output) {
        this(seed, OnDuplicate.FAIL, new SkipCounts(), output);
    }

    /**
     * @param onDuplicate decides about keys that the dataset already has
     * @param skipped counts files that are left out
     */
    BucketSort(long seed, OnDuplicate onDuplicate, SkipCounts skipped, Output output) {
        this.seed = seed;
        this.onDuplicate = onDuplicate;
        this.skipped = skipped;
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
    }

    /** Passes on the file of a key. If the dataset has the key twice, this ingest did not cause the duplicate. */
    private void pass(List<Hashed> same) throws TakenKeyException {
        FileEntry taken = null;
        FileEntry file = null;
        for (Hashed entry : same) {
            if (entry.isTaken()) {
                taken = entry.file();
            } else if (file != null) {
                // A tree has each path once, so none of the two is the first.
                throw TakenKeyException.twice(file.path());
            } else {
                file = entry.file();
            }
        }
        if (file == null) {
            return;
        }
        if (taken == null) {
            output.file(file, null);
            return;
        }
        StoredRow stored = TakenKeysOperator.place(taken);
        switch (onDuplicate.stored()) {
            case REFUSES -> throw TakenKeyException.inDataset(file.path(), "chunk " + stored.ordinal());
            case STAYS -> skipped.add(FileSkip.STORED, file.path());
            case IS_REPLACED -> output.file(file, stored);
        }
    }
}
