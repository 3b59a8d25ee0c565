package dev.stoker.server.session;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.chunks.LoadTime;
import dev.stoker.server.session.group.Membership;
import dev.stoker.server.session.group.SessionWatch;
import dev.stoker.server.window.BuiltPiece;
import dev.stoker.server.window.PieceBuilder;
import dev.stoker.server.window.PieceKey;
import dev.stoker.server.window.Windows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the tasks of a session's send queue to its connection. No other thread writes to the channel, except through
 * {@link #answer}.
 */
final class Sender implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
    private static final int RETRIES = 4;
    private static final long FIRST_PAUSE_MS = 20;
    /** Pieces that take longer are reported to the trainer with their times. */
    private static final long SLOW_NANOS = 1_000_000;

    private final Session session;
    private final SendQueue sendQueue;
    private final StallClock clock;
    private final Counters counters;
    private final Windows windows;
    private final Membership member;
    private final LocalReads localReads;
    private final PieceChannel out;
    private final SessionWatch watch;
    private final SampleAnswers answers;
    /** Whether chunks may be files of this machine, so that reading them counts as disk time. */
    private final boolean local;
    /** Whether chunks may be read into memory, so that waiting for them counts as origin time. */
    private final boolean far;

    private @Nullable DiskShare disk;
    private @Nullable Subscription followed;
    private @Nullable LaneMap followedMap;

    /**
     * What a trainer of this machine reads from files itself.
     *
     * @param files the files that the trainer knows; null if it takes payload over the connection
     * @param leases the chunks that the trainer was referred to
     */
    record LocalReads(@Nullable SentFiles files, ReferredChunks leases) {}

    Sender(
            Session session,
            Session.Shared shared,
            Membership member,
            LocalReads localReads,
            PieceChannel out,
            SendQueue sendQueue) {
        this.session = session;
        this.member = member;
        this.localReads = localReads;
        this.sendQueue = sendQueue;
        this.clock = session.clock();
        this.counters = shared.counters();
        this.windows = shared.chunks().windows();
        this.watch = member.watch();
        this.local = member.stream().stream().source().hasFiles();
        this.far = member.stream().stream().source().takesMemory();
        this.out = out;
        this.answers = new SampleAnswers(session, shared, member.order().stream(), out, sendQueue);
    }

    @Override
    public void run() {
        try {
            sendAll();
            if (sendQueue.owesDurable()) {
                // The trainer need not repeat durable receipts over its next connection.
                out.write(new Durable(session.durable()));
            }
            Frame farewell = sendQueue.farewell();
            if (farewell != null) {
                out.write(farewell);
            }
        } catch (IOException e) {
            LOG.debug("{} lost its connection", session, e);
        } catch (InterruptedException e) {
            LOG.debug("{} was interrupted", session);
        } finally {
            sendQueue.end(null);
            // Before the output ends, because under TLS even that may wait for the peer to read.
            session.closeLater();
            out.shut();
        }
    }

    private void sendAll() throws IOException, InterruptedException {
        try (PieceBuilder builder = member.builder(windows)) {
            disk = new DiskShare(LoadTime::diskBytes, System.nanoTime());
            send(builder);
        } catch (RuntimeException | Error e) {
            LOG.error("{} failed", session, e);
            sendQueue.end(new ErrorMessage(ErrorCode.INTERNAL, "the feeder failed, see its log: " + e));
        } finally {
            LoadTime.forget();
        }
    }

    private void send(PieceBuilder builder) throws IOException, InterruptedException {
        while (true) {
            if (out.channel().isSpent()) {
                LOG.info("{} continues over a new connection: the keys of this one have encrypted enough", session);
                sendQueue.end(new Bye());
            }
            watch.idle(System.nanoTime());
            SendQueue.Task task = sendQueue.take(() -> clock.demand(System.nanoTime(), false));
            if (task == null) {
                return;
            }
            long nowNanos = System.nanoTime();
            watch.busy(nowNanos);
            if (task instanceof SendQueue.Send send) {
                clock.demand(nowNanos, true);
                follow(builder, send);
                sendPiece(builder, send.piece(), false, send.subscription());
            } else if (task instanceof SendQueue.Control control) {
                out.write(control.frame());
            } else if (task instanceof SendQueue.TellDurable) {
                out.write(new Durable(session.durable()));
            } else if (task instanceof SendQueue.Answer answer) {
                answers.answer(answer.request());
            } else if (task instanceof SendQueue.End end) {
                Subscription over = end.subscription();
                out.write(new EpochEnd(
                        over.id(), over.asked().epoch(), over.asked().count(), over.rowsSent()));
            } else if (task instanceof SendQueue.Repeat repeat) {
                PieceKey piece = repeat.subscription()
                        .sentBefore(repeat.nack().number(), repeat.nack().piece());
                if (piece == null) {
                    sendQueue.end(new ErrorMessage(
                            ErrorCode.BAD_FRAME,
                            "NACK: number " + repeat.nack().number() + " piece "
                                    + repeat.nack().piece() + " was not sent"));
                } else {
                    counters.refetches.increment();
                    sendPiece(builder, piece, true, null);
                }
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // A new map is another object.
    private void follow(PieceBuilder builder, SendQueue.Send send) {
        LaneMap map = member.stream().laneMap();
        if (send.subscription() != followed || map != followedMap) {
            followed = send.subscription();
            followedMap = map;
            builder.select(followed.view());
            LaneMap lanes = map.forLanes(member.order().order().lanes());
            builder.follow(
                    followed.asked().epoch(),
                    send.piece().batch().number(),
                    followed::wants,
                    lane -> member.stream().isHere(lanes, lane));
        }
    }

    /** @param advance the subscription whose next piece this is, or null for a repeated piece */
    private void sendPiece(PieceBuilder builder, PieceKey key, boolean checked, @Nullable Subscription advance)
            throws IOException, InterruptedException {
        long beganNanos = System.nanoTime();
        BuiltPiece built = build(builder, key, checked);
        if (built == null) {
            return;
        }
        long builtNanos = System.nanoTime();
        try (built) {
            if (built.isReference()) {
                refer(built);
            } else if (!out.write(built.parts(), built.bytes())) {
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
        long sentNanos = System.nanoTime();
        clock.sent(sentNanos);
        counters.batches.increment();
        counters.bytes.add(built.bytes());
        counters.rows.add(built.rows());
        watch.pieces.increment();
        watch.bytes.add(built.bytes());
        watch.rows.add(built.rows());
        account(key, builtNanos - beganNanos, sentNanos - builtNanos, built.bytes(), sentNanos);
    }

    /**
     * Sends a reference, preceded by the files that it mentions. The trainer's lease takes over the holds on the
     * chunks.
     */
    private void refer(BuiltPiece built) throws IOException {
        List<ByteBuffer> parts = new ArrayList<>();
        Objects.requireNonNull(localReads.files(), "a reference names files")
                .untold()
                .forEach(file -> parts.add(Frames.encode(file)));
        parts.addAll(List.of(built.parts()));
        long bytes = 0;
        for (ByteBuffer part : parts) {
            bytes += part.remaining();
        }
        localReads.leases().add(built.takeHolds());
        out.write(parts.toArray(ByteBuffer[]::new), bytes);
    }

    /** Reports where the time of a piece was spent: in the status of the feed, and to a trainer that asks for it. */
    private void account(PieceKey key, long buildNanos, long writeNanos, long bytes, long nowNanos) throws IOException {
        long loadNanos = Math.min(buildNanos, LoadTime.take());
        long readNanos = Math.min(loadNanos, LoadTime.takeDisk());
        long faultNanos = local && disk != null ? disk.of(writeNanos, bytes, nowNanos) : 0;
        long originNanos = far ? loadNanos : 0;
        long diskNanos = (far ? 0 : readNanos) + faultNanos;
        // Data from the page cache takes no disk time.
        long ownNanos = buildNanos - (far ? loadNanos : readNanos);
        watch.originNanos.add(originNanos);
        watch.diskNanos.add(diskNanos);
        watch.buildNanos.add(ownNanos);
        watch.writeNanos.add(writeNanos - faultNanos);
        if (originNanos + diskNanos + ownNanos >= SLOW_NANOS && watch.isTold()) {
            out.write(new Delay(
                    key.subscription(),
                    key.epoch().epoch(),
                    key.batch().number(),
                    key.piece(),
                    micros(originNanos),
                    micros(diskNanos),
                    micros(ownNanos)));
        }
    }

    private static long micros(long nanos) {
        return Math.min(0xFFFF_FFFFL, TimeUnit.NANOSECONDS.toMicros(nanos));
    }

    /** Builds a piece. Returns null if the session ends because that failed. */
    private @Nullable BuiltPiece build(PieceBuilder builder, PieceKey key, boolean checked)
            throws InterruptedException {
        try {
            return buildRetrying(builder, key, checked);
        } catch (CorruptDataException e) {
            sendQueue.end(new ErrorMessage(ErrorCode.CORRUPT, ErrorText.of(e)));
        } catch (IOException e) {
            sendQueue.end(new ErrorMessage(
                    ErrorCode.ORIGIN_UNAVAILABLE, e instanceof StokerException ? ErrorText.of(e) : e.toString()));
        } catch (IllegalArgumentException e) {
            sendQueue.end(new ErrorMessage(ErrorCode.TOO_LARGE, ErrorText.of(e)));
        } catch (OutOfMemoryError e) {
            sendQueue.end(new ErrorMessage(
                    ErrorCode.INTERNAL,
                    "the feeder has no memory left for a batch (" + e.getMessage()
                            + "): raise taskmanager.memory.task.off-heap.size, or choose a smaller batch size"));
        }
        LOG.warn(
                "{} ends: number {} piece {} cannot be built: {}",
                session,
                key.batch().number(),
                key.piece(),
                sendQueue.farewell());
        return null;
    }

    /**
     * Builds a piece, and retries failures that may be temporary, such as too many open files or an I/O error of a
     * disk.
     */
    private BuiltPiece buildRetrying(PieceBuilder builder, PieceKey key, boolean checked)
            throws IOException, InterruptedException {
        for (int attempt = 0; ; attempt++) {
            try {
                if (checked) {
                    return builder.rebuild(key);
                }
                return builder.build(key, localReads.leases().hasRoom() ? localReads.files() : null);
            } catch (StokerException e) {
                throw e;
            } catch (IOException e) {
                if (attempt == RETRIES || !sendQueue.pause(FIRST_PAUSE_MS << (2 * attempt))) {
                    throw e;
                }
                LOG.warn("{}: the origin failed, trying again: {}", session, e.toString());
            }
        }
    }

    /**
     * Writes the answer to a PING that is first in the send queue, unless a write is in progress; the sender then
     * writes the answer after it. Called by the session's reader thread, because building a piece may take seconds with
     * a slow origin, and a trainer leaves a feeder that does not answer.
     */
    void answer() throws IOException {
        out.whileQuiet(() -> {
            for (Frame pong = sendQueue.pong(); pong != null; pong = sendQueue.pong()) {
                out.write(pong);
            }
        });
    }
}
