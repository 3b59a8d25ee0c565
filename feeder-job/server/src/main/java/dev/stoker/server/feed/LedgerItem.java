package dev.stoker.server.feed;

/**
 * Something that belongs into the ledger, in the order in which a node learned of it.
 *
 * <p>Items carry no feed or fingerprint of their own where the {@link Identity}'s group determines them.
 */
public sealed interface LedgerItem permits SubscriptionItem, ReceiptsItem {
    /** Wall clock of this node when the item came in, milliseconds since 1970. */
    long atMs();

    /** The trainer that sent it. */
    Identity identity();

    /** The group's order fingerprint, 32 hex digits. */
    String fingerprint();

    /** The epoch it speaks of. */
    long epoch();

    /** Entries this item counts for in the bounded table; at least 1. */
    int weight();
}
