package dev.stoker.client.errors;

/** The permitted differences between a state and the feed that resumes from it; see {@code FeedClient.load}. */
public enum Difference {
    BATCH_SIZE
}
