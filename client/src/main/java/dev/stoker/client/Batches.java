package dev.stoker.client;

import java.util.Iterator;
import java.util.NoSuchElementException;

/** Iterates over the batches of all epochs. */
final class Batches implements Iterator<Batch> {
    /** The most epochs in a row without a batch: the first can be the end of an epoch in which a state was saved. */
    private static final int MAX_IDLE = 2;

    private final FeedClient feed;
    private Epoch epoch;
    private boolean isOver;

    Batches(FeedClient feed) {
        this.feed = feed;
    }

    @Override
    public boolean hasNext() {
        for (int idle = 0; idle <= MAX_IDLE && !isOver; idle++) {
            if (epoch != null && epoch.hasNext()) {
                return true;
            }
            if (idle < MAX_IDLE) {
                epoch = feed.epoch();
            }
        }
        isOver = true;
        if (!feed.hasEnd()) {
            throw new FeedException("no epoch of " + feed.info().batches() + " batches has a step for this reader");
        }
        return false;
    }

    @Override
    public Batch next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the feed has no more epochs");
        }
        return epoch.next();
    }
}
