package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.Identity;
import dev.stoker.feeder.node.ReceiptsItem;
import dev.stoker.feeder.node.SubscriptionItem;
import dev.stoker.feeder.node.ack.AckTable;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Subscribe;

/** What a session has the ledger say: what the trainer asked for, and what it acknowledged. For the session's reader thread. */
final class SessionLedger {

    private final Identity identity;
    private final Orders orders;
    private final AckTable.SessionReceipts receipts;
    private final AskedNumbers everAsked = new AskedNumbers();
    /** The last that was asked for. */
    private Subscribe asked;

    /** The order of each epoch. */
    interface Orders {
        GroupOrder of(long epoch) throws ProtocolException;
    }

    SessionLedger(Identity identity, Orders orders, AckTable.SessionReceipts receipts) {
        this.identity = identity;
        this.orders = orders;
        this.receipts = receipts;
    }

    /** The trainer has asked for batches. */
    void asked(Subscribe subscribe) throws ProtocolException {
        asked = subscribe;
        record(subscribe);
    }

    private void record(Subscribe subscribe) throws ProtocolException {
        GroupOrder order = orders.of(subscribe.epoch());
        everAsked.add(subscribe);
        receipts.offer(
                new SubscriptionItem(
                        System.currentTimeMillis(),
                        identity,
                        order.fingerprint().text(),
                        order.stream().version(),
                        subscribe.epoch(),
                        subscribe.first(),
                        subscribe.stride(),
                        subscribe.count(),
                        subscribe.tail().text()),
                0);
    }

    /** Refuses receipts of batches that are not the trainer's. */
    void check(Ack ack) throws ProtocolException {
        // Receipts of an earlier connection come with numbers of an earlier subscription, perhaps of an earlier epoch;
        // the epoch's bounds hold for all.
        long end = orders.of(ack.epoch()).order().size().batches() + stride();
        for (int i = 0; i < ack.count(); i++) {
            if (ack.number(i) >= end) {
                throw new ProtocolException(
                        ErrorCode.BAD_FRAME, "ACK: number " + ack.number(i) + " is past the end of the epoch, " + end);
            }
            if (ack.number(i) % identity.worldSize() != identity.rank()) {
                throw new ProtocolException(
                        ErrorCode.BAD_FRAME,
                        "ACK: number " + ack.number(i) + " is one of rank " + ack.number(i) % identity.worldSize()
                                + ", this is rank " + identity.rank());
            }
        }
    }

    /** The trainer has consumed batches; they were {@linkplain #check checked}. */
    void acknowledged(Ack ack) throws ProtocolException {
        for (Subscribe earlier : everAsked.unasked(ack, stride())) {
            record(earlier);
        }
        receipts.offer(
                new ReceiptsItem(
                        System.currentTimeMillis(),
                        identity,
                        orders.of(ack.epoch()).fingerprint().text(),
                        ack.epoch(),
                        last(ack.epoch()),
                        ack.entryBytes()),
                ack.count());
    }

    private long stride() {
        return (long) identity.worldSize() * identity.workers();
    }

    /** The last number of an epoch that was asked for; -1 if it is not the one that is read. */
    private long last(long epoch) {
        return asked == null || asked.epoch() != epoch || asked.count() == 0
                ? -1
                : asked.first() + (asked.count() - 1) * asked.stride();
    }
}
