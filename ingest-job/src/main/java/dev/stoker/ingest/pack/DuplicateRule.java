package dev.stoker.ingest.pack;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.pack.keys.BucketSort;
import dev.stoker.ingest.pack.keys.KeyRefusals;
import dev.stoker.ingest.pack.sync.StoredRow;
import dev.stoker.ingest.pack.sync.TakenKeysOperator;
import org.jspecify.annotations.Nullable;

/**
 * Decides about files whose keys the dataset already has. For one thread.
 *
 * @param onDuplicate the decision
 * @param refusals makes the errors
 * @param skipped counts files that are left out
 * @param output takes the files
 */
record DuplicateRule(OnDuplicate onDuplicate, KeyRefusals refusals, SkipCounts skipped, Output output)
        implements BucketSort.Keys {

    /** Takes the files, in order. */
    interface Output {
        /** @param replaces the sample of the dataset that the file replaces, if any */
        void file(FileEntry file, @Nullable StoredRow replaces);
    }

    @Override
    public void key(@Nullable FileEntry file, @Nullable FileEntry taken) throws TakenKeyException {
        if (file == null) {
            return;
        }
        if (taken == null) {
            output.file(file, null);
            return;
        }
        StoredRow stored = TakenKeysOperator.place(taken);
        switch (onDuplicate.stored()) {
            case REFUSES -> throw refusals.inDataset(file, stored.ordinal());
            case STAYS -> skipped.add(FileSkip.STORED, file.path());
            case IS_REPLACED -> output.file(file, stored);
        }
    }

    @Override
    public TakenKeyException twice(FileEntry one, FileEntry other) {
        return refusals.twice(one, other);
    }
}
