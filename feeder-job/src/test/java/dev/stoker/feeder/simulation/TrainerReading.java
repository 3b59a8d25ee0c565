package dev.stoker.feeder.simulation;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.delivery.DeliveredPiece;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.Subscribe;
import java.util.List;

/**
 * The epochs that a trainer reads. Checks every piece that arrives against the oracle and the trainer's requests, and
 * consumes the batches at the pace of the model.
 */
final class TrainerReading {
    private final Trainer trainer;
    private final TrainingGroup group;
    private final Simulation simulation;
    private final Position begin;
    /** The epoch of the model; null before the first WELCOME. */
    private TrainerSpan current;
    /** The epoch that arrives: the epoch of the model, or the next one. */
    private TrainerSpan receiving;
    /** The receipts of the batch that the model works on. They are sent when it asks for the next batch. */
    private List<TrainerSpan.Arrival> inHand = List.of();

    private boolean isStepping;
    private boolean isRead;

    TrainerReading(Trainer trainer, TrainingGroup group, Position begin) {
        this.trainer = trainer;
        this.group = group;
        this.simulation = trainer.simulation();
        this.begin = begin;
    }

    /** Starts to read, unless that was done before. */
    void start() {
        if (current == null) {
            current = span(begin);
            receiving = current;
            skipEmpty();
        }
    }

    private TrainerSpan span(Position at) {
        Delivery delivery = new Delivery(group.batches().slots(), group.tail(), trainer.participant, at.batch());
        return new TrainerSpan(group.oracle(), group.batches().skipped(at.epoch()), at.epoch(), delivery);
    }

    /** Returns the epoch that arrives; null before the first WELCOME. */
    TrainerSpan receiving() {
        return receiving;
    }

    /** Returns where it began. */
    Position begin() {
        return begin;
    }

    /** Returns the number at which it began the epoch; none if it came from the epoch before. */
    long begin(TrainerSpan span) {
        return span.epoch == begin.epoch() ? span.number(0) : Subscribe.NONE;
    }

    /** Returns whether the model has consumed the last epoch. */
    boolean isRead() {
        return isRead;
    }

    /** Returns the first step of its rank that it has not consumed: epoch, start of the epoch, and step. */
    Position next() {
        if (isRead) {
            return new Position(group.epochs(), 0);
        }
        if (current == null) {
            return begin;
        }
        if (current.consumed == current.count) {
            return new Position(current.epoch + 1, 0);
        }
        long step = current.delivery.rankStep(current.consumed);
        return step == 0
                ? new Position(current.epoch, current.delivery.start())
                : current.delivery.after(current.epoch, step - 1);
    }

    /** Returns whether nothing is due on the connection, so that silence is normal. */
    boolean isIdle(TrainerLink link) {
        return receiving == null
                || (receiving.isReceived() && link.isConfirmed())
                || (!receiving.isReceived() && receiving.missingLanes().stream().noneMatch(link.lanes::contains));
    }

    /** Returns the index of the last batch that may arrive, or -1. */
    int through() {
        int room = group.depth() - (current == receiving ? 0 : current.count - current.consumed);
        return Math.min(receiving.count, receiving.consumed + Math.max(current == receiving ? 1 : 0, room)) - 1;
    }

    // ---- arrivals

    /** Checks a piece that has arrived, and keeps it if it is new. */
    void received(TrainerLink link, Batch batch) {
        BatchIdentity id = batch.header().identity();
        String what = trainer + " got epoch " + id.epoch() + " number " + id.number() + " piece " + id.piece()
                + " from " + link.address;
        TrainerSpan span = of(id.epoch());
        int index = span == null ? -1 : span.index(id.number());
        if (batch.header().subscription() == link.subscription) {
            require(index >= 0, what + ", which it did not ask for");
            require(id.number() <= link.granted, what + " beyond its grant of " + link.granted);
            require(link.lanes.contains((int) id.lane()), what + " of lane " + id.lane() + ", not of " + link.lanes);
        }
        require(batch.isIntact(), what + " with a wrong checksum");
        if (index < 0) {
            return;
        }
        check(batch, span, index, what);
        AckEntry entry = AckEntry.of(batch.header());
        if (span.take(index, entry, link)) {
            require(
                    current.held() + (receiving == current ? 0 : receiving.held()) <= group.depth() + 1,
                    trainer + " holds more than it granted");
            prefetch();
            pace();
        }
    }

    private void check(Batch batch, TrainerSpan span, int index, String what) {
        BatchIdentity id = batch.header().identity();
        List<DeliveredPiece> pieces = span.expected(index).pieces();
        DeliveredPiece piece = pieces.get(id.piece());
        require(
                id.pieces() == pieces.size()
                        && id.lane() == piece.lane()
                        && id.rows() + id.skipped() == piece.rows()
                        && id.skipped() == 0
                        && id.repeated() == piece.repeated(),
                what + ": " + id + " is not " + piece);
        require(
                Crc32cs.of(batch.message()) == group.oracle().checksum(id.epoch(), piece),
                what + ": the content does not match " + piece);
    }

    private TrainerSpan of(long epoch) {
        if (receiving != null && receiving.epoch == epoch) {
            return receiving;
        }
        return current != null && current.epoch == epoch ? current : null;
    }

    private static void require(boolean condition, String violation) {
        if (!condition) {
            throw new AssertionError(violation);
        }
    }

    /** Starts to receive the next epoch when the present one has arrived completely. */
    private void prefetch() {
        if (receiving == current
                && receiving.isReceived()
                && group.prefetches()
                && current.epoch + 1 < group.epochs()) {
            receiving = span(new Position(current.epoch + 1, 0));
            trainer.arrange();
        }
    }

    // ---- the model

    /** Starts the next step of the model, unless it is working on one. */
    void pace() {
        if (!isStepping && !isRead && current != null) {
            isStepping = true;
            simulation.after(group.stepNanos(trainer.replica), trainer.process, "step", () -> {
                isStepping = false;
                if (!trainer.isAbandoned()) {
                    step();
                }
            });
        }
    }

    /** Asks for the next batch on behalf of the model, which has consumed the previous one. */
    private void step() {
        acknowledgeInHand();
        skipEmpty();
        if (isRead) {
            return;
        }
        if (current.complete > current.consumed) {
            long slot = current.slot(current.consumed);
            inHand = current.consume();
            group.consumed(trainer, current.epoch, slot);
            trainer.grantAll();
            pace();
        }
    }

    private void acknowledgeInHand() {
        long epoch = current.epoch;
        for (TrainerSpan.Arrival arrival : inHand) {
            if (arrival.link().isClosed) {
                trainer.orphaned(List.of(new TrainerLink.Receipts(epoch, List.of(arrival.entry()))));
            } else {
                arrival.link().acknowledge(epoch, arrival.entry());
            }
        }
        if (!inHand.isEmpty()) {
            inHand = List.of();
            trainer.flushSoon();
        }
    }

    /** Advances to the next epoch at the end of an epoch. May reach the end of the last epoch. */
    private void skipEmpty() {
        while (current.consumed == current.count && !isRead) {
            if (current.count == 0) {
                trainer.arrange();
            }
            trainer.flush();
            if (current.epoch + 1 >= group.epochs()) {
                isRead = true;
                trainer.trace("has read everything");
                trainer.leaveIfDone();
                return;
            }
            current = receiving == current ? span(new Position(current.epoch + 1, 0)) : receiving;
            receiving = current;
            trainer.arrange();
            trainer.grantAll();
        }
    }

    /** Returns whether no receipt of a batch or of an empty share is still to be sent. */
    boolean isConfirmed() {
        return (!isRead || current.count > 0 || current.isTold) && inHand.isEmpty();
    }

    String describe() {
        return current == null
                ? "-"
                : current.epoch + ", consumed " + current.consumed + " of " + current.count + ", complete "
                        + receiving.complete + " of " + receiving.count;
    }
}
