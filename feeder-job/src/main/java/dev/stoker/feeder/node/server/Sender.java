package dev.stoker.feeder.node.server;

import dev.stoker.feeder.node.window.BuiltPiece;
import dev.stoker.feeder.node.window.GroupOrder;
import dev.stoker.feeder.node.window.PieceBuilder;
import dev.stoker.feeder.node.window.PieceKey;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.protocol.Durable;
import dev.stoker.schemas.protocol.EpochEnd;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frames;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes what a session's outbox and subscription ask for; the only one who writes to the channel. */
final class Sender implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
    private static final int RETRIES = 4;
    private static final long FIRST_PAUSE_MS = 20;

    private final FeedServer server;
    private final Session session;
    private final Outbox outbox;
    private final StallClock clock;
    private final GroupOrder order;
    private final StreamState stream;
    private final PieceChannel out;

    /** @param order null for a session that was refused, which has only a farewell to write */
    Sender(
            FeedServer server,
            Session session,
            SocketChannel channel,
            Outbox outbox,
            StallClock clock,
            GroupOrder order,
            StreamState stream) {
        this.server = server;
        this.session = session;
        this.outbox = outbox;
        this.clock = clock;
        this.order = order;
        this.stream = stream;
        this.out = new PieceChannel(channel);
    }

    @Override
    public void run() {
        try {
            sendAll();
            if (order != null && outbox.owesDurable()) {
                // What is durable need not be repeated over the next connection.
                write(new Durable(session.durable()));
            }
            Frame farewell = outbox.farewell();
            if (farewell != null) {
                write(farewell);
            }
        } catch (IOException e) {
            LOG.debug("{} lost its connection", session, e);
        } catch (InterruptedException e) {
            LOG.debug("{} was interrupted", session);
        } finally {
            outbox.end(null);
            out.shut();
            server.closeLater(out.channel());
        }
    }

    private void sendAll() throws IOException, InterruptedException {
        if (order == null) {
            return;
        }
        try (PieceBuilder builder = server.builder(stream, order)) {
            send(builder);
        } catch (RuntimeException | Error e) {
            LOG.error("{} failed", session, e);
            outbox.end(new ErrorMessage(ErrorCode.INTERNAL, "the feeder failed, see its log: " + e));
        }
    }

    private void send(PieceBuilder builder) throws IOException, InterruptedException {
        while (true) {
            Outbox.Task task = outbox.take(() -> clock.demand(System.nanoTime(), false));
            if (task == null) {
                return;
            }
            if (task instanceof Outbox.Send send) {
                clock.demand(System.nanoTime(), true);
                sendPiece(builder, send.piece(), false, send.subscription());
            } else if (task instanceof Outbox.Control control) {
                write(control.frame());
            } else if (task instanceof Outbox.TellDurable) {
                write(new Durable(session.durable()));
            } else if (task instanceof Outbox.End end) {
                Subscription over = end.subscription();
                write(new EpochEnd(over.id(), over.asked().epoch(), over.asked().count(), over.rowsSent()));
            } else if (task instanceof Outbox.Repeat repeat) {
                PieceKey piece = repeat.subscription()
                        .sentBefore(repeat.nack().number(), repeat.nack().piece());
                if (piece == null) {
                    outbox.end(new ErrorMessage(
                            ErrorCode.BAD_FRAME,
                            "NACK: number " + repeat.nack().number() + " piece "
                                    + repeat.nack().piece() + " was not sent"));
                } else {
                    server.counters().refetches.increment();
                    sendPiece(builder, piece, true, null);
                }
            }
        }
    }

    /** @param advance the subscription whose next piece this is, or null for one that is repeated */
    private void sendPiece(PieceBuilder builder, PieceKey key, boolean checked, Subscription advance)
            throws IOException, InterruptedException {
        BuiltPiece built = build(builder, key, checked);
        if (built == null) {
            return;
        }
        try (built) {
            if (!out.write(built.parts(), built.bytes())) {
                LOG.warn(
                        "{}: chunks of number {} piece {} cannot be read to their end; the trainer will ask again",
                        session,
                        key.batch().number(),
                        key.piece());
            }
        }
        if (advance != null) {
            advance.sent(built.rows());
        }
        clock.sent(System.nanoTime());
        server.counters().batches.increment();
        server.counters().bytes.add(built.bytes());
        server.counters().rows.add(built.rows());
    }

    /** The piece, or null when the session ends for want of it. */
    private BuiltPiece build(PieceBuilder builder, PieceKey key, boolean checked) throws InterruptedException {
        try {
            return buildRetrying(builder, key, checked);
        } catch (CorruptDataException e) {
            outbox.end(new ErrorMessage(ErrorCode.CORRUPT, e.getMessage()));
        } catch (IOException e) {
            outbox.end(new ErrorMessage(
                    ErrorCode.ORIGIN_UNAVAILABLE, e instanceof StokerException ? e.getMessage() : e.toString()));
        } catch (IllegalArgumentException e) {
            outbox.end(new ErrorMessage(ErrorCode.TOO_LARGE, e.getMessage()));
        } catch (OutOfMemoryError e) {
            outbox.end(new ErrorMessage(
                    ErrorCode.INTERNAL,
                    "the feeder has no memory left for a batch (" + e.getMessage()
                            + "): raise taskmanager.memory.task.off-heap.size, or choose a smaller batch size"));
        }
        LOG.warn(
                "{} ends: number {} piece {} cannot be built: {}",
                session,
                key.batch().number(),
                key.piece(),
                outbox.farewell());
        return null;
    }

    /** Failures that Stoker has no name for may pass: too many open files, an I/O error of a disk. */
    private BuiltPiece buildRetrying(PieceBuilder builder, PieceKey key, boolean checked)
            throws IOException, InterruptedException {
        for (int attempt = 0; ; attempt++) {
            try {
                return checked ? builder.rebuild(key) : builder.build(key);
            } catch (StokerException e) {
                throw e;
            } catch (IOException e) {
                if (attempt == RETRIES || !outbox.pause(FIRST_PAUSE_MS << 2 * attempt)) {
                    throw e;
                }
                LOG.warn("{}: the origin failed, trying again: {}", session, e.toString());
            }
        }
    }

    private void write(Frame frame) throws IOException {
        ByteBuffer bytes = Frames.encode(frame);
        out.write(new ByteBuffer[] {bytes}, bytes.remaining());
    }
}
