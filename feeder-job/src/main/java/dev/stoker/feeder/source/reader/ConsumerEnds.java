package dev.stoker.feeder.source.reader;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.LedgerItem;
import dev.stoker.feeder.node.ReceiptsItem;
import dev.stoker.feeder.node.SubscriptionItem;
import dev.stoker.feeder.source.split.ConsumerEnd;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Notices when a consumer has acknowledged the last batch of its subscription. Keeps one end a consumer, that of its
 * greatest run and epoch, so that its size follows the number of trainers and not that of epochs.
 *
 * <p>Owned by the mailbox thread.
 */
final class ConsumerEnds {

    private record Consumer(String stream, String group, int rank, int worker) {}

    private record Last(long run, long epoch, long number) {}

    /** The last two subscriptions: a trainer asks for the next epoch before it has acknowledged all of the present one. */
    private final Map<Consumer, List<Last>> subscribed = new HashMap<>();

    private final Map<Consumer, ConsumerEnd> ends = new LinkedHashMap<>();
    private int changes;

    void add(LedgerItem item) {
        Identity identity = item.identity();
        Consumer consumer = new Consumer(identity.stream(), identity.group(), identity.rank(), identity.worker());
        if (item instanceof SubscriptionItem subscription) {
            if (subscription.end().isEmpty()) {
                return;
            }
            List<Last> lasts = subscribed.computeIfAbsent(consumer, c -> new ArrayList<>());
            lasts.removeIf(last -> last.run() != identity.run() || last.epoch() == item.epoch());
            long end = subscription.end().getAsLong();
            lasts.add(new Last(identity.run(), item.epoch(), end));
            if (lasts.size() > 2) {
                lasts.remove(0);
            }
            if (end < 0) {
                end(identity, item.epoch());
            }
        } else if (item instanceof ReceiptsItem receipts) {
            // A reader that took over from another has not seen the subscription; then the receipts may know its end.
            long end = subscribed.getOrDefault(consumer, List.of()).stream()
                    .filter(last -> last.run() == identity.run() && last.epoch() == item.epoch())
                    .mapToLong(Last::number)
                    .findFirst()
                    .orElse(receipts.last());
            for (int i = receipts.count() - 1; i >= 0 && end >= 0; i--) {
                if (receipts.number(i) == end) {
                    end(identity, item.epoch());
                    return;
                }
            }
        }
    }

    private void end(Identity identity, long epoch) {
        keep(new ConsumerEnd(
                identity.stream(),
                identity.group(),
                identity.run(),
                epoch,
                identity.rank(),
                identity.worldSize(),
                identity.worker(),
                identity.workers()));
    }

    void restore(Collection<ConsumerEnd> restored) {
        restored.forEach(this::keep);
    }

    private void keep(ConsumerEnd end) {
        Consumer consumer = new Consumer(end.stream(), end.group(), end.rank(), end.worker());
        ConsumerEnd known = ends.get(consumer);
        if (known == null || end.run() > known.run() || (end.run() == known.run() && end.epoch() > known.epoch())) {
            ends.put(consumer, end);
            changes++;
        }
    }

    /** How often an end was added or replaced. */
    int changes() {
        return changes;
    }

    List<ConsumerEnd> all() {
        return List.copyOf(ends.values());
    }
}
