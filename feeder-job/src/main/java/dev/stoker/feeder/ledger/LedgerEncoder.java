package dev.stoker.feeder.ledger;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.LedgerItem;
import dev.stoker.feeder.node.ReceiptsItem;
import dev.stoker.feeder.node.SubscriptionItem;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** Encodes what a node reports as ledger records. */
public final class LedgerEncoder implements Function<LedgerItem, byte[]> {

    private final String feed;

    /** @param feed id of the feed */
    public LedgerEncoder(UUID feed) {
        this.feed = feed.toString();
    }

    @Override
    public byte[] apply(LedgerItem item) {
        return LedgerWriter.encode(toRecord(item));
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
                    subscription.first(),
                    subscription.stride(),
                    subscription.count(),
                    subscription.tail());
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
                    receipts.crc(i)));
        }
        return new Receipts(item.atMs(), consumer, item.epoch(), entries);
    }
}
