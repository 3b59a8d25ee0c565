package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;

/**
 * Contains the slots {@code first + i·stride}, up to {@code last}, that a consumer was assigned in an epoch. Combines
 * all its subscriptions of one residue, because a later one of the same run is the rest of an earlier one.
 *
 * @param skipped the batches that the consumer leaves out; slots are those of {@link SkippedBatches}
 */
record AssignedSlots(Consumer consumer, long first, long stride, long last, TailPolicy tail, SkippedBatches skipped) {

    /** @param consumer consumer of the subscription, as part of its pass */
    static AssignedSlots of(Consumer consumer, Subscription subscription, SkippedBatches skipped) {
        long first = skipped.slot(subscription.first());
        return new AssignedSlots(
                consumer,
                first,
                subscription.stride(),
                first + (subscription.count() - 1) * subscription.stride(),
                TailPolicy.byText(subscription.tail()),
                skipped);
    }

    long residue() {
        return first % stride;
    }

    boolean covers(long number) {
        long slot = skipped.slot(number);
        return slot >= first && slot <= last && (slot - first) % stride == 0 && !skipped.contains(number);
    }

    /** Combines both, given that consumer, stride, residue, tail and skipped batches are the same. */
    AssignedSlots with(AssignedSlots other) {
        return new AssignedSlots(
                consumer, Math.min(first, other.first), stride, Math.max(last, other.last), tail, skipped);
    }

    /** Returns the greatest assigned number. */
    long lastNumber() {
        return skipped.number(last);
    }

    /** Returns the least position at which a run can have begun if its consumer was assigned this first slot. */
    long leastStart() {
        return leastStart(consumer, skipped, first);
    }

    /** Returns the same for a consumer that would have begun with a slot. */
    static long leastStart(Consumer consumer, SkippedBatches skipped, long first) {
        long slot = Math.max(0, first - (long) consumer.worker() * consumer.worldSize() - consumer.worldSize() + 1);
        return slot == 0 ? 0 : skipped.number(slot);
    }
}
