package dev.stoker.feeder.source.split;

import dev.stoker.server.feed.Identity;
import java.util.Objects;

/**
 * How many epochs one consumer (a loader worker of a rank) has finished. Clients acknowledge in the order of
 * consumption, so a consumer that has acknowledged the last batch of an epoch has consumed all of its batches.
 *
 * @param consumer a consumer that has subscribed
 * @param epochs number of the last epoch that it has finished, plus one; 0 if it has finished none
 */
public record ConsumerProgress(Identity consumer, long epochs) {

    public ConsumerProgress {
        Objects.requireNonNull(consumer, "consumer");
        if (epochs < 0) {
            throw new IllegalArgumentException("epochs must not be negative: " + epochs);
        }
    }
}
