package dev.stoker.client.errors;

/** The permitted differences between a state and the feed that resumes from it; see {@code FeedClient.load}. */
public enum Difference {
    /** Another number of samples in a batch. */
    BATCH_SIZE,
    /** The client delivers batches that the state skips after its position. */
    SKIP
}
