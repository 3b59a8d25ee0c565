package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one hash; nearly always one. Keeps one row of the source for each key, however often the key occurs. For
 * one thread.
 */
final class SameHash {

    /** Takes the rows. */
    interface Output {
        /** @param replaces the key in the dataset whose sample the row replaces, if any */
        void row(HashedRow row, @Nullable HashedRow replaces) throws IOException, InterruptedException;
    }

    private final OnDuplicate onDuplicate;
    private final RowRefusals refusals;
    private final SkipCounts skipped;
    private final List<HashedRow> rows = new ArrayList<>();
    private final List<HashedRow> taken = new ArrayList<>();
    private long hash;

    /**
     * @param refusals makes the errors
     * @param skipped counts rows that are left out
     */
    SameHash(OnDuplicate onDuplicate, RowRefusals refusals, SkipCounts skipped) {
        this.refusals = refusals;
        this.onDuplicate = onDuplicate;
        this.skipped = skipped;
    }

    /** Returns whether a row can be added: it has the hash of the others, or there is no other. */
    boolean accepts(HashedRow row) {
        return row.hash() == hash || (rows.isEmpty() && taken.isEmpty());
    }

    /** Adds a row of the source, or a key of the dataset. */
    void add(HashedRow row) throws TakenKeyException {
        hash = row.hash();
        if (row.kind() == HashedRow.Kind.TAKEN) {
            taken.add(row);
            return;
        }
        int other = find(rows, row);
        if (other < 0) {
            rows.add(row);
            return;
        }
        String key = text(row);
        if (onDuplicate == OnDuplicate.FAIL) {
            throw refusals.twice(key, rows.get(other).place(), row.place());
        }
        skipped.add(FileSkip.REPEATED, key);
        if (row.isAfter(rows.get(other)) == onDuplicate.takesLast()) {
            rows.set(other, row);
        }
    }

    /** Passes on the rows in the order of their keys, and forgets them. */
    void drain(Output output) throws IOException, InterruptedException {
        if (rows.size() > 1) {
            rows.sort((a, b) -> Arrays.compareUnsigned(a.key(), b.key()));
        }
        for (HashedRow row : rows) {
            int stored = find(taken, row);
            if (stored < 0) {
                output.row(row, null);
                continue;
            }
            switch (onDuplicate.stored()) {
                case REFUSES ->
                    throw refusals.inDataset(text(row), taken.get(stored).ordinal());
                case STAYS -> skipped.add(FileSkip.STORED, text(row));
                case IS_REPLACED -> output.row(row, taken.get(stored));
            }
        }
        rows.clear();
        taken.clear();
    }

    private static int find(List<HashedRow> among, HashedRow row) {
        for (int i = 0; i < among.size(); i++) {
            if (Arrays.equals(among.get(i).key(), row.key())) {
                return i;
            }
        }
        return -1;
    }

    private static String text(HashedRow row) {
        return new String(row.key(), StandardCharsets.UTF_8);
    }
}
