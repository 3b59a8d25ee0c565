package dev.stoker.server.session;

import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.security.Right;
import dev.stoker.server.security.TokenRights;
import dev.stoker.server.session.group.Group;
import dev.stoker.server.session.receipts.AckTable;
import dev.stoker.server.session.receipts.Selection;
import dev.stoker.server.session.receipts.SessionLedger;
import dev.stoker.server.window.GroupOrder;
import java.util.EnumSet;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a trainer with a place does: it selects columns, subscribes, acknowledges, and reports damage. For the session's
 * reader thread.
 */
final class Reading {
    private static final Logger LOG = LoggerFactory.getLogger(Reading.class);

    /** Frames that only a session with a place may send. */
    static final Set<FrameType> FRAMES = EnumSet.of(
            FrameType.SELECT, FrameType.SUBSCRIBE, FrameType.GRANT, FrameType.ACK, FrameType.NACK, FrameType.RELEASE);

    private final FeedServer server;
    private final Session session;
    private final Hello hello;
    private final TokenRights rights;
    private final Group group;
    private final Admitted admitted;
    private final SendQueue sendQueue;
    private final Selection selection;
    private final SessionLedger ledger;
    private final DamagedPieces damaged = new DamagedPieces();
    private @Nullable Subscription subscription;

    Reading(
            FeedServer server,
            Session session,
            Hello hello,
            TokenRights rights,
            Group group,
            Admitted admitted,
            SendQueue sendQueue,
            AckTable.SessionReceipts receipts) {
        this.server = server;
        this.session = session;
        this.hello = hello;
        this.rights = rights;
        this.group = group;
        this.admitted = admitted;
        this.sendQueue = sendQueue;
        this.selection = new Selection(admitted.order());
        this.ledger = new SessionLedger(admitted.identity(), hello.skip(), selection, this::order, receipts);
    }

    /**
     * Handles one of the {@link #FRAMES}.
     *
     * @throws ProtocolException if the trainer may not send it, or it makes no sense
     */
    void handle(Frame frame) throws ProtocolException, InterruptedException {
        if (frame instanceof Grant grant) {
            sendQueue.grant(grant);
        } else if (frame instanceof Ack ack) {
            acknowledge(ack);
        } else if (frame instanceof Subscribe subscribe) {
            subscribe(subscribe);
        } else if (frame instanceof Select select) {
            sendQueue.add(selection.select(select, subscription != null));
        } else if (frame instanceof Release release) {
            admitted.leases().release(release.references());
        } else if (frame instanceof Nack nack) {
            damaged(nack);
        }
    }

    private void subscribe(Subscribe asked) throws ProtocolException {
        OptionalLong only = admitted.only();
        if (only.isPresent() && asked.epoch() != only.getAsLong()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "SUBSCRIBE: epoch " + asked.epoch() + ": this session is bound to epoch " + only.getAsLong()
                            + "; reconnect for another epoch");
        }
        subscription = Subscription.of(
                asked,
                hello.skip().in(asked.epoch(), admitted.order().order().size()),
                admitted.order(),
                selection.view(),
                admitted.identity());
        damaged.clear();
        if (rights.includes(Right.ACKNOWLEDGE)) {
            server.subscribes(admitted.identity());
            group.settle(hello, rights, session);
            // A subscription without receipts would be a gap in the ledger, and the feed would wait for its end.
            ledger.asked(asked);
        }
        if (asked.count() > 0) {
            admitted.watch().at(asked.epoch(), asked.first());
        }
        sendQueue.subscribe(subscription);
    }

    private GroupOrder order(long epoch) throws ProtocolException {
        OptionalLong only = admitted.only();
        boolean here = !admitted.stream().follows() || (only.isPresent() && only.getAsLong() == epoch);
        return here
                ? admitted.order()
                : admitted.stream()
                        .begun(
                                admitted.identity().group(),
                                epoch,
                                admitted.order().spec());
    }

    private void acknowledge(Ack ack) throws ProtocolException {
        rights.require(Right.ACKNOWLEDGE, "ACK");
        ledger.check(ack);
        session.clock().acknowledged(System.nanoTime(), ack.count());
        server.counters().usedRows.add(admitted.watch().consumed(ack));
        ledger.acknowledged(ack);
    }

    private void damaged(Nack nack) throws ProtocolException {
        if (subscription == null || nack.subscription() != subscription.id()) {
            return;
        }
        if (nack.epoch() != subscription.asked().epoch() || !subscription.covers(nack.number())) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "NACK: number " + nack.number() + " of epoch " + nack.epoch() + " was not requested");
        }
        server.counters().nacks.increment();
        LOG.warn(
                "Session {} ({}): number {} piece {} arrived damaged",
                session.number(),
                session,
                nack.number(),
                nack.piece());
        damaged.add(nack);
        if (!sendQueue.nack(nack)) {
            throw damaged.tooMany();
        }
    }
}
