package dev.stoker.feeder.node;

import dev.stoker.schemas.protocol.Subscribe;
import java.util.Objects;

/**
 * A trainer asked for numbers of an epoch. Carries all that a ledger record says, so that none depends on what the node still
 * knows of the group.
 *
 * @param version of the dataset, that the epoch reads
 * @param order the group's order spec as canonical JSON
 * @param asked which numbers
 */
public record SubscriptionItem(
        long atMs, Identity identity, String fingerprint, long version, String order, Subscribe asked)
        implements LedgerItem {
    public SubscriptionItem {
        Objects.requireNonNull(identity, "identity");
        Objects.requireNonNull(fingerprint, "fingerprint");
        Objects.requireNonNull(order, "order");
    }

    @Override
    public long epoch() {
        return asked.epoch();
    }

    @Override
    public int weight() {
        return 1;
    }
}
