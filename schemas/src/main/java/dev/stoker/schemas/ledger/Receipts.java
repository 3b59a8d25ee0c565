package dev.stoker.schemas.ledger;

import java.util.List;
import java.util.Objects;

/**
 * What a consumer acknowledged of an epoch.
 *
 * @param atMs when, in milliseconds since 1970
 * @param consumer who
 * @param epoch from 0
 * @param entries in the order in which they were acknowledged
 */
public record Receipts(long atMs, Consumer consumer, long epoch, List<Receipt> entries) implements LedgerRecord {
    public Receipts {
        Objects.requireNonNull(consumer, "consumer");
        if (epoch < 0) {
            throw new IllegalArgumentException("Epoch " + epoch);
        }
        entries = List.copyOf(entries);
    }
}
