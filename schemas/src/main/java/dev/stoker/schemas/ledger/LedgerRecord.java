package dev.stoker.schemas.ledger;

/** A record of a ledger. */
public sealed interface LedgerRecord permits Subscription, Receipts {

    /** Returns the time of the record, in milliseconds since 1970, by the feeder's clock. */
    long atMs();

    /** Returns the consumer of the record. */
    Consumer consumer();
}
