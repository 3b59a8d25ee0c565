package dev.stoker.client;

/** What may differ between a state and the feed that goes on from it, if that is permitted; see {@link FeedClient#load}. */
public enum Difference {
    BATCH_SIZE
}
