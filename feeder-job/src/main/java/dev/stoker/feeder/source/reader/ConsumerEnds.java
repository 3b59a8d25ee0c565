package dev.stoker.feeder.source.reader;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.LedgerItem;
import dev.stoker.feeder.node.ReceiptsItem;
import dev.stoker.feeder.node.SubscriptionItem;
import dev.stoker.feeder.source.split.ConsumerEnd;
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

    private final Map<Consumer, Last> subscribed = new HashMap<>();
    private final Map<Consumer, ConsumerEnd> ends = new LinkedHashMap<>();
    private int changes;

    void add(LedgerItem item) {
        Identity identity = item.identity();
        Consumer consumer = new Consumer(identity.stream(), identity.group(), identity.rank(), identity.worker());
        if (item instanceof SubscriptionItem subscription) {
            long last = subscription.first() + (subscription.count() - 1) * subscription.stride();
            subscribed.put(consumer, new Last(identity.run(), item.epoch(), last));
            if (subscription.count() == 0) {
                end(identity, item.epoch());
            }
        } else if (item instanceof ReceiptsItem receipts) {
            Last known = subscribed.get(consumer);
            boolean same = known != null && known.run() == identity.run() && known.epoch() == item.epoch();
            // A reader that took over from another has not seen the subscription; the receipts know its end.
            long last = same ? known.number() : receipts.last();
            for (int i = receipts.count() - 1; i >= 0 && last >= 0; i--) {
                if (receipts.number(i) == last) {
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
