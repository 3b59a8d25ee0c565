package dev.stoker.feeder.node;

import dev.stoker.schemas.protocol.Subscribe;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * A trainer asked for numbers of an epoch. Carries all that a ledger record says, so that none depends on what the node still
 * knows of the group.
 *
 * @param version of the dataset, that the epoch reads
 * @param order the group's order spec as canonical JSON
 * @param asked which numbers
 * @param end the number whose receipt says that the trainer has finished the epoch, negative if it has no number there; empty if
 *     the epoch goes on behind these numbers, or if they are those of receipts that an earlier connection left
 */
public record SubscriptionItem(
        long atMs, Identity identity, String fingerprint, long version, String order, Subscribe asked, OptionalLong end)
        implements LedgerItem {
    public SubscriptionItem {
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(fingerprint, "fingerprint");
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(end, "end");
    }

    @Override
    public long epoch() {
        return asked.epoch();
    }

    /** A subscription carries its group's order spec. */
    @Override
    public int weight() {
        return 1 + order.length() / ReceiptsItem.ENTRY_BYTES;
    }
}
