package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.TailPolicy;

/**
 * Contains the numbers {@code first + i·stride}, up to {@code last}, that a consumer was assigned in an epoch. Combines
 * all its subscriptions of one residue, because a later one of the same run is the rest of an earlier one.
 */
record Claim(Consumer consumer, long first, long stride, long last, TailPolicy tail) {

    /** @param consumer consumer of the subscription, as part of its pass */
    static Claim of(Consumer consumer, Subscription subscription) {
        return new Claim(
                consumer,
                subscription.first(),
                subscription.stride(),
                subscription.first() + (subscription.count() - 1) * subscription.stride(),
                TailPolicy.byText(subscription.tail()));
    }

    long residue() {
        return first % stride;
    }

    boolean covers(long number) {
        return number >= first && number <= last && (number - first) % stride == 0;
    }

    /** Combines both, given that consumer, stride, residue and tail are the same. */
    Claim with(Claim other) {
        return new Claim(consumer, Math.min(first, other.first), stride, Math.max(last, other.last), tail);
    }

    /** Returns the least position at which a run can have begun if its consumer was assigned this first number. */
    long leastStart() {
        return leastStart(consumer, first);
    }

    /** Returns the same for a consumer that would have begun with a number. */
    static long leastStart(Consumer consumer, long first) {
        return Math.max(0, first - (long) consumer.worker() * consumer.worldSize() - consumer.worldSize() + 1);
    }
}
