package dev.stoker.feeder.ledger;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.reader.LaneReader;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.LedgerItem;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.SubscriptionItem;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Encodes what a node reports as ledger records. */
public final class LedgerEncoder implements LaneReader.RecordEncoder {

    private final String feed;
    private final Map<String, FeedPlan.Stream> streams = new HashMap<>();

    /** @param plan the feed */
    public LedgerEncoder(FeedPlan plan) {
        feed = plan.id().toString();
        plan.streams().forEach(stream -> streams.put(stream.name(), stream));
    }

    @Override
    public byte[] encode(LedgerItem item) {
        return LedgerWriter.encode(toRecord(item));
    }

    private Source source(SubscriptionItem item) {
        FeedPlan.Stream stream =
                Objects.requireNonNull(streams.get(item.identity().stream()), "the feed serves the stream");
        return new Source(stream.dataset().toString(), item.version(), stream.split(), item.order());
    }

    private LedgerRecord toRecord(LedgerItem item) {
        Identity id = item.identity();
        Consumer consumer = new Consumer(
                feed,
                id.stream(),
                id.group(),
                item.fingerprint(),
                id.run(),
                id.rank(),
                id.worldSize(),
                id.worker(),
                id.workers(),
                id.replica());
        if (item instanceof SubscriptionItem subscription) {
            return new Subscription(
                    item.atMs(),
                    consumer,
                    item.epoch(),
                    subscription.asked().first(),
                    subscription.asked().stride(),
                    subscription.asked().count(),
                    subscription.asked().tail().text(),
                    source(subscription),
                    subscription.view(),
                    subscription.skip(),
                    subscription.asked().begin());
        }
        ReceiptsItem receipts = (ReceiptsItem) item;
        List<Receipt> entries = new ArrayList<>(receipts.count());
        for (int i = 0; i < receipts.count(); i++) {
            entries.add(new Receipt(
                    receipts.number(i),
                    receipts.piece(i),
                    receipts.repeated(i),
                    receipts.rows(i),
                    receipts.skipped(i),
                    receipts.crc(i),
                    receipts.sourceRows(i),
                    receipts.sourceCrc(i)));
        }
        return new Receipts(item.atMs(), consumer, item.epoch(), receipts.viewTag(), entries);
    }
}
