package dev.stoker.schemas.order.delivery;

/**
 * Contains the next batch of a group in an epoch. It is the same on every rank.
 *
 * @param epoch the epoch, from 0
 * @param batch the first number that no rank has consumed
 */
public record Position(long epoch, long batch) {
    public static final Position START = new Position(0, 0);

    public Position {
        if (epoch < 0 || batch < 0) {
            throw new IllegalArgumentException("no position: epoch " + epoch + ", batch " + batch);
        }
    }
}
