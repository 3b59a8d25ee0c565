package dev.stoker.server.session.receipts;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.Identity;
import dev.stoker.server.feed.ReceiptsItem;
import dev.stoker.server.feed.SubscriptionItem;
import dev.stoker.server.window.GroupOrder;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Records the requests and acknowledgements of a session in the ledger. For the session's reader thread.
 */
public final class SessionLedger {

    private final Identity identity;
    private final Selection selection;
    private final Orders orders;
    private final AckTable.SessionReceipts receipts;
    private final SkipList skip;
    private final AskedNumbers everAsked = new AskedNumbers();
    private final ReceiptCheck check;
    /** The newest that was asked for. */
    private @Nullable Subscribe asked;
    /** Its end. */
    private OptionalLong end = OptionalLong.empty();

    /** The order of each epoch. */
    public interface Orders {
        GroupOrder of(long epoch) throws ProtocolException;
    }

    /** @param skip the batches that the trainer leaves out */
    public SessionLedger(
            Identity identity, SkipList skip, Selection selection, Orders orders, AckTable.SessionReceipts receipts) {
        this.identity = identity;
        this.selection = selection;
        this.orders = orders;
        this.receipts = receipts;
        this.skip = skip;
        this.check = new ReceiptCheck(identity);
    }

    /** The trainer has asked for batches. */
    public void asked(Subscribe full) throws ProtocolException {
        // Lanes are no matter of the ledger's, and a list of all of them takes more than a megabyte.
        Subscribe subscribe = full.ofAllLanes();
        asked = subscribe;
        end = end(subscribe, orders.of(subscribe.epoch()).order().size());
        record(subscribe, end);
    }

    /** See {@link SubscriptionItem#end}. */
    private OptionalLong end(Subscribe subscribe, EpochSize size) {
        if (subscribe.emptyShare()) {
            return OptionalLong.of(-1);
        }
        SkippedBatches skipped = skip.in(subscribe.epoch(), size);
        long next = skipped.slot(subscribe.first()) + subscribe.count() * subscribe.stride();
        long left = skipped.isEmpty() ? size.batches() : skipped.left();
        // Under "drop" the last numbers may be left out, how many depends on how the trainer joins batches.
        boolean whole = subscribe.tail() == TailPolicy.DROP || next >= left;
        long last = next - subscribe.stride();
        // Asking for nothing means that all has arrived, not that all was consumed.
        return whole ? OptionalLong.of(last < 0 ? last : skipped.number(last)) : OptionalLong.empty();
    }

    private void record(Subscribe subscribe, OptionalLong itsEnd) throws ProtocolException {
        GroupOrder order = orders.of(subscribe.epoch());
        everAsked.add(subscribe);
        receipts.offer(
                new SubscriptionItem(
                        System.currentTimeMillis(),
                        identity,
                        order.fingerprint().text(),
                        order.stream().version(),
                        order.spec().toJson(),
                        selection.view().text(),
                        skip.text(subscribe.epoch()),
                        subscribe,
                        itsEnd),
                subscribe.emptyShare() ? 1 : 0);
    }

    /** Refuses receipts that the trainer cannot have. */
    public void check(Ack ack) throws ProtocolException {
        if (everAsked.isEmpty()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME, "ACK before SUBSCRIBE: nothing was requested on this connection");
        }
        GroupOrder order = orders.of(ack.epoch());
        SkippedBatches skipped = skip.in(ack.epoch(), order.order().size());
        for (int i = 0; i < ack.count(); i++) {
            check.check(ack, i, order, skipped, everAsked.tail(ack.epoch(), skipped, ack.number(i)));
        }
    }

    /** The trainer has consumed batches; they were {@linkplain #check checked}. */
    public void acknowledged(Ack ack) throws ProtocolException {
        SkippedBatches skipped =
                skip.in(ack.epoch(), orders.of(ack.epoch()).order().size());
        for (Subscribe earlier : everAsked.unasked(ack, skipped, stride())) {
            record(earlier, OptionalLong.empty());
        }
        receipts.offer(
                new ReceiptsItem(
                        System.currentTimeMillis(),
                        identity,
                        orders.of(ack.epoch()).fingerprint().text(),
                        ack.epoch(),
                        asked != null && asked.epoch() == ack.epoch() ? end.orElse(-1) : -1,
                        selection.view().tag(),
                        ack.entryBytes()),
                ack.count());
    }

    private long stride() {
        return (long) identity.worldSize() * identity.workers();
    }
}
