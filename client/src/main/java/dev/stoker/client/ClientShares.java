package dev.stoker.client;

import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.source.Share;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.protocol.Welcome;
import java.util.OptionalLong;
import java.util.function.Supplier;

/**
 * Tells which epochs there are, and what a client reads of each. Immutable, except that a feed that follows its dataset
 * describes another version in each epoch.
 *
 * @param options the settings of the client
 * @param stream the present description of the stream
 */
record ClientShares(ClientOptions options, Supplier<Welcome> stream) {

    /** Returns whether any epoch is the last one. */
    boolean haveEnd() {
        return options.epochs().isPresent() || stream.get().pass().epochs().isPresent();
    }

    /** Returns whether an epoch is after the last one. */
    boolean isOver(long epoch) {
        return isBeyond(options.epochs(), epoch) || isBeyond(stream.get().pass().epochs(), epoch);
    }

    private static boolean isBeyond(OptionalLong epochs, long epoch) {
        return epochs.isPresent() && epoch >= epochs.getAsLong();
    }

    /** Returns the share of the client in the rest of an epoch, of which nothing is left after the last one. */
    Share share(Position start) {
        Welcome welcome = stream.get();
        long batch = isOver(start.epoch()) ? welcome.size().batches() : start.batch();
        return new Share(
                welcome.size(),
                options.tail(),
                batch,
                options.participant(),
                options.concat(),
                options.epochBatches(),
                options.skip().in(start.epoch(), welcome.size()));
    }

    /** The position at which the following iteration begins if one begins at {@code start}; the same on every rank. */
    Position after(Position start) {
        Share share = share(start);
        return share.limit().isPresent() ? share.afterLimit(start.epoch()) : new Position(start.epoch() + 1, 0);
    }

    EpochParts parts() {
        return new EpochParts(options.skip(), epoch -> share(new Position(epoch, 0)));
    }
}
