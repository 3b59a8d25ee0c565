package dev.stoker.feeder.node;

/**
 * A trainer asked for {@code count} numbers from {@code first} on, every {@code stride}-th.
 *
 * @param tail {@code pad}, {@code drop} or {@code keep}
 */
public record SubscriptionItem(
        long atMs, Identity identity, String fingerprint, long epoch, long first, long stride, long count, String tail)
        implements LedgerItem {
    @Override
    public int weight() {
        return 1;
    }
}
