package dev.stoker.client;

import dev.stoker.client.errors.FeedException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Iterates over the batches of all epochs. */
final class Batches implements Iterator<Batch> {
    /**
     * Epochs in a row without a batch, of a feed without end: the first may be the end of one, where a state stood.
     * Epochs that are skipped come on top.
     */
    private static final int MAX_IDLE = 2;

    private final FeedClient feed;
    private @Nullable Iteration epoch;
    private boolean isOver;

    Batches(FeedClient feed) {
        this.feed = feed;
    }

    @Override
    public boolean hasNext() {
        for (int idle = 0; !isOver; idle++) {
            if (epoch != null && epoch.hasNext()) {
                return true;
            }
            // A reader without a batch in the epochs that a feed has goes through all of them.
            isOver = idle > 0
                    && (feed.hasEnd()
                            ? feed.isPastEnd()
                            : idle >= MAX_IDLE + feed.skip().epochs());
            if (!isOver) {
                epoch = feed.epoch();
            }
        }
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
        return Objects.requireNonNull(epoch, "hasNext() sets it").next();
    }
}
