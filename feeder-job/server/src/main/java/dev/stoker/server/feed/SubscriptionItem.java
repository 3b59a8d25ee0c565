package dev.stoker.server.feed;

import dev.stoker.schemas.protocol.Subscribe;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * A trainer's request for batches of an epoch. Carries everything that the ledger record contains, so that the record
 * does not depend on what the node still knows of the group.
 *
 * @param version version of the dataset that the epoch reads
 * @param order the group's order spec as canonical JSON
 * @param view the requested columns as canonical JSON
 * @param skip the batches of the epoch that the trainer leaves out, as in the ledger
 * @param asked the requested batches
 * @param end the number whose receipt means that the trainer has finished the epoch, negative if the trainer has no
 *     batch in the epoch; empty if the epoch continues after these batches, or if an earlier connection left their
 *     receipts
 */
public record SubscriptionItem(
        long atMs,
        Identity identity,
        String fingerprint,
        long version,
        String order,
        String view,
        String skip,
        Subscribe asked,
        OptionalLong end)
        implements LedgerItem {
    public SubscriptionItem {
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(fingerprint, "fingerprint");
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(view, "view");
        Objects.requireNonNull(skip, "skip");
        Objects.requireNonNull(end, "end");
    }

    @Override
    public long epoch() {
        return asked.epoch();
    }

    /** Returns the weight, which includes the group's order spec and the names of columns. */
    @Override
    public int weight() {
        return 1 + (order.length() + view.length() + skip.length()) / ReceiptsItem.ENTRY_BYTES;
    }
}
