package dev.stoker.server.session;

import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.FrameType;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Select;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.Right;
import dev.stoker.server.session.group.Membership;
import dev.stoker.server.session.receipts.AckTable;
import dev.stoker.server.session.receipts.Selection;
import dev.stoker.server.session.receipts.SessionLedger;
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

    private final Session session;
    private final Counters counters;
    private final Consumers consumers;
    private final Membership member;
    private final FeedToken.Rights rights;
    private final SkipList skip;
    private final ReferredChunks leases;
    private final SendQueue sendQueue;
    private final Selection selection;
    private final SessionLedger ledger;
    private final DamagedPieces damaged = new DamagedPieces();
    private @Nullable Subscription subscription;

    /** @param leases the chunks that the trainer was referred to */
    Reading(
            Session session,
            Session.Shared shared,
            Membership member,
            ReferredChunks leases,
            SendQueue sendQueue,
            AckTable.SessionReceipts receipts) {
        this.session = session;
        this.counters = shared.counters();
        this.consumers = shared.consumers();
        this.member = member;
        this.rights = member.admission().rights();
        this.skip = member.admission().hello().reading().skip();
        this.leases = leases;
        this.sendQueue = sendQueue;
        this.selection = new Selection(member.order());
        this.ledger = new SessionLedger(member.identity(), skip, selection, member::order, receipts);
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
            leases.release(release.references());
        } else if (frame instanceof Nack nack) {
            damaged(nack);
        }
    }

    private void subscribe(Subscribe asked) throws ProtocolException {
        OptionalLong only = member.only();
        if (only.isPresent() && asked.epoch() != only.getAsLong()) {
            throw new ProtocolException(
                    ErrorCode.BAD_FRAME,
                    "SUBSCRIBE: epoch " + asked.epoch() + ": this session is bound to epoch " + only.getAsLong()
                            + "; reconnect for another epoch");
        }
        subscription = Subscription.of(
                asked,
                skip.in(asked.epoch(), member.order().order().size()),
                member.order(),
                selection.view(),
                member.identity());
        damaged.clear();
        if (rights.includes(Right.ACKNOWLEDGE)) {
            consumers.add(member.identity());
            member.settle();
            // A subscription without receipts would be a gap in the ledger, and the feed would wait for its end.
            ledger.asked(asked);
        }
        if (asked.count() > 0) {
            member.watch().at(asked.epoch(), asked.first());
        }
        sendQueue.subscribe(subscription);
    }

    private void acknowledge(Ack ack) throws ProtocolException {
        rights.require(Right.ACKNOWLEDGE, "ACK");
        ledger.check(ack);
        session.clock().acknowledged(System.nanoTime(), ack.count());
        counters.usedRows.add(member.watch().consumed(ack));
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
        counters.nacks.increment();
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
