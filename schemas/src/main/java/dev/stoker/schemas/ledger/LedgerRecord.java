package dev.stoker.schemas.ledger;

/** A record of a ledger. */
public sealed interface LedgerRecord permits Subscription, Receipts {

    /** When it was made, in milliseconds since 1970, by the feeder's clock. */
    long atMs();

    /** Whose it is. */
    Consumer consumer();
}
