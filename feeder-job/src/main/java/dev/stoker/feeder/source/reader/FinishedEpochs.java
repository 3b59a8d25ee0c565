package dev.stoker.feeder.source.reader;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.LedgerItem;
import dev.stoker.feeder.node.ReceiptsItem;
import dev.stoker.feeder.node.SubscriptionItem;
import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.NewestProgress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Notices when a consumer subscribes, and when it has acknowledged the last batch of an epoch.
 *
 * <p>Owned by the mailbox thread.
 */
final class FinishedEpochs {

    private record Consumer(String stream, String group, int replica, int rank, int worker) {}

    private record Last(long run, long epoch, long number) {}

    /** The last two subscriptions: a trainer asks for the next epoch before it has acknowledged all of the present one. */
    private final Map<Consumer, List<Last>> subscribed = new HashMap<>();

    private final NewestProgress progress = new NewestProgress();
    private int changes;

    void add(LedgerItem item) {
        Identity identity = item.identity();
        Consumer consumer = new Consumer(
                identity.stream(), identity.group(), identity.replica(), identity.rank(), identity.worker());
        if (item instanceof SubscriptionItem subscription) {
            keep(new ConsumerProgress(identity, 0));
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
                finish(identity, item.epoch());
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
                    finish(identity, item.epoch());
                    return;
                }
            }
        }
    }

    private void finish(Identity identity, long epoch) {
        keep(new ConsumerProgress(identity, epoch + 1));
    }

    void restore(Collection<ConsumerProgress> restored) {
        restored.forEach(this::keep);
    }

    private void keep(ConsumerProgress next) {
        if (progress.add(next)) {
            changes++;
        }
    }

    /** How often there was news. */
    int changes() {
        return changes;
    }

    List<ConsumerProgress> all() {
        return progress.all();
    }
}
