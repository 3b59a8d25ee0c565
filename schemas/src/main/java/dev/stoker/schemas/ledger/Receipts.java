package dev.stoker.schemas.ledger;

import java.util.List;
import java.util.Objects;

/**
 * Records the pieces of an epoch that a consumer acknowledged.
 *
 * @param atMs time, in milliseconds since 1970
 * @param consumer the consumer
 * @param epoch the epoch, from 0
 * @param viewTag identifies the columns of the pieces, see {@link dev.stoker.schemas.batch.View#tag}
 * @param entries the receipts, in the order of acknowledgement
 */
public record Receipts(long atMs, Consumer consumer, long epoch, long viewTag, List<Receipt> entries)
        implements LedgerRecord {
    public Receipts {
        Objects.requireNonNull(consumer, "consumer");
        if (epoch < 0) {
            throw new IllegalArgumentException("Epoch " + epoch);
        }
        entries = List.copyOf(entries);
    }
}
