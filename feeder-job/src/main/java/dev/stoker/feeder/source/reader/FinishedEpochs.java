package dev.stoker.feeder.source.reader;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.NewestProgress;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.SubscriptionItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Notices when a consumer subscribes, and when it has acknowledged the last batch of an epoch. An epoch that ended with
 * a receipt counts once the receipt is in the ledger: if this process dies before, the receipt comes again, and the
 * feed must be there for it.
 *
 * <p>Owned by the mailbox thread.
 */
final class FinishedEpochs {

    private record Consumer(String stream, String group, int replica, int rank, int worker) {}

    private record Last(long run, long epoch, long number) {}

    /**
     * The last two subscriptions: a trainer asks for the next epoch before it has acknowledged all of the present one.
     */
    private final Map<Consumer, List<Last>> subscribed = new HashMap<>();

    /** An epoch that was finished by a receipt which is not durable yet. */
    private record Undurable(long token, ConsumerProgress progress) {}

    private final NewestProgress seen = new NewestProgress();
    private final NewestProgress durable = new NewestProgress();
    private final Deque<Undurable> undurable = new ArrayDeque<>();
    /** Durable progress that {@link #takeNews} has not returned yet. */
    private List<ConsumerProgress> news = new ArrayList<>();

    /**
     * Looks at an item.
     *
     * @param token of the drain, once it is durable so is the item
     */
    void add(LedgerItem item, long token) {
        Identity identity = item.identity();
        Consumer consumer = new Consumer(
                identity.stream(), identity.group(), identity.replica(), identity.rank(), identity.worker());
        if (item instanceof SubscriptionItem subscription) {
            if (subscription.asked().count() > 0) {
                // That somebody reads holds the feed, so it is told before it is durable.
                keep(new ConsumerProgress(identity, 0));
            }
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
                finish(identity, item.epoch(), token);
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
                    finish(identity, item.epoch(), token);
                    return;
                }
            }
        }
    }

    private void finish(Identity identity, long epoch, long token) {
        ConsumerProgress next = new ConsumerProgress(identity, epoch + 1);
        if (seen.add(next)) {
            undurable.add(new Undurable(token, next));
        }
    }

    /** Everything up to the token is in the ledger. */
    void markDurable(long token) {
        while (!undurable.isEmpty() && undurable.peek().token() <= token) {
            keep(undurable.poll().progress());
        }
    }

    void restore(Collection<ConsumerProgress> restored) {
        restored.forEach(this::keep);
    }

    private void keep(ConsumerProgress next) {
        seen.add(next);
        if (durable.add(next)) {
            news.add(next);
        }
    }

    /** Returns whether there is durable progress that was not returned before. */
    boolean hasNews() {
        return !news.isEmpty();
    }

    /** Returns the durable progress since the last call. It stays true if this process dies. */
    List<ConsumerProgress> takeNews() {
        List<ConsumerProgress> taken = news;
        news = new ArrayList<>();
        return taken;
    }

    /** What is true as soon as all items so far are durable; for a checkpoint, which holds them. */
    List<ConsumerProgress> all() {
        return seen.all();
    }
}
