package dev.stoker.client;

import dev.stoker.client.source.Share;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.SkipList;
import java.util.function.LongFunction;

/**
 * The parts of epochs, counted over all epochs. Epochs of which batches are skipped can have fewer parts. Without a
 * limit of steps, an epoch is one part.
 *
 * @param skip the batches that are left out
 * @param shares the share of a whole epoch
 */
record EpochParts(SkipList skip, LongFunction<Share> shares) {

    /** Returns where a part begins. */
    Position first(long part) {
        long rest = part;
        long epoch = 0;
        long usual = usualParts();
        for (long skipping : skip.ranges().stream()
                .mapToLong(SkipList.Range::epoch)
                .distinct()
                .toArray()) {
            if (rest < (skipping - epoch) * usual) {
                break;
            }
            rest -= (skipping - epoch) * usual;
            long parts = shares.apply(skipping).parts();
            if (rest < parts) {
                return begin(skipping, rest);
            }
            rest -= parts;
            epoch = skipping + 1;
        }
        return begin(epoch + rest / usual, rest % usual);
    }

    /** Returns whether a position is in the part that begins at {@code first}. */
    boolean isWithin(Position position, Position first) {
        Share share = shares.apply(first.epoch());
        boolean isSamePart = share.limit().isEmpty()
                || share.skipped().slot(position.batch()) / size(share)
                        == share.skipped().slot(first.batch()) / size(share);
        return position.epoch() == first.epoch() && isSamePart;
    }

    private Position begin(long epoch, long index) {
        Share share = shares.apply(epoch);
        return new Position(epoch, share.limit().isEmpty() ? 0 : share.skipped().number(index * size(share)));
    }

    /** Slots of a part. */
    private static long size(Share share) {
        return share.limit().getAsInt() * share.width();
    }

    /** Returns the number of parts of an epoch without skipped batches. */
    private long usualParts() {
        long epoch = 0;
        for (SkipList.Range range : skip.ranges()) {
            epoch = range.epoch() + 1;
        }
        return shares.apply(epoch).parts();
    }
}
