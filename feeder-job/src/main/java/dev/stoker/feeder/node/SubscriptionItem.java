package dev.stoker.feeder.node;

/**
 * A trainer asked for {@code count} numbers from {@code first} on, every {@code stride}-th.
 *
 * @param version of the dataset, that the epoch reads
 * @param tail {@code pad}, {@code drop} or {@code keep}
 */
public record SubscriptionItem(
        long atMs,
        Identity identity,
        String fingerprint,
        long version,
        long epoch,
        long first,
        long stride,
        long count,
        String tail)
        implements LedgerItem {
    @Override
    public int weight() {
        return 1;
    }
}
