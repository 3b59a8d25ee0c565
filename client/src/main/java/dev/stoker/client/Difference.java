package dev.stoker.client;

/** The permitted differences between a state and the feed that resumes from it; see {@link FeedClient#load}. */
public enum Difference {
    BATCH_SIZE
}
