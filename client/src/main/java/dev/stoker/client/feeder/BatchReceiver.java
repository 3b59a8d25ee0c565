package dev.stoker.client.feeder;

import dev.stoker.client.errors.ConnectionLostException;
import dev.stoker.client.errors.CorruptBatchException;
import dev.stoker.client.errors.FeedProtocolException;
import dev.stoker.client.errors.LocalReadException;
import dev.stoker.client.source.ClientStats;
import dev.stoker.client.source.ReceivedPiece;
import dev.stoker.client.source.Span;
import dev.stoker.client.transport.Buffers;
import dev.stoker.client.transport.LocalReads;
import dev.stoker.client.transport.PageReads;
import dev.stoker.schemas.protocol.BatchHeader;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.BatchRef;
import dev.stoker.schemas.protocol.FileAnnouncement;
import dev.stoker.schemas.protocol.Frame.EpochEnd;
import dev.stoker.schemas.protocol.Frame.Nack;
import dev.stoker.schemas.protocol.Frame.Release;
import dev.stoker.schemas.protocol.parts.PieceSource;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Checks arriving pieces, joins them to the batches of the span that is received, and requests damaged and missing ones
 * again. Called by the input thread; takes the client's lock.
 */
final class BatchReceiver {
    /** How often one piece may arrive damaged, and how often an epoch may end without one of its pieces. */
    private static final int MAX_REFUSED = 4;

    private final ReentrantLock lock;
    private final Condition changed;
    private final Network network;
    private final Subscriptions subscriptions;
    private final Agreement agreement;
    private final ClientStats clientStats;
    private final Buffers buffers;
    private final DamagedPieces damaged = new DamagedPieces();
    private final PageReads pageReads = new PageReads();

    private int renewals;
    private long bytes;
    private long localReadBytes;
    private long corruptPieces;
    private long duplicatePieces;

    BatchReceiver(FrameHandler.Surroundings around, Agreement agreement, ClientStats clientStats, Buffers buffers) {
        this.lock = around.lock();
        this.changed = around.changed();
        this.network = around.network();
        this.subscriptions = around.subscriptions();
        this.agreement = agreement;
        this.clientStats = clientStats;
        this.buffers = buffers;
    }

    /** Discards the state of the version that this connection no longer reads. */
    void forget() {
        damaged.clear();
        renewals = 0;
    }

    Buffers buffers() {
        return buffers;
    }

    long bytes() {
        return bytes;
    }

    /** The part of the received bytes that was read locally, from a feeder's files. */
    long localReadBytes() {
        return localReadBytes;
    }

    long corruptPieces() {
        return corruptPieces;
    }

    long duplicatePieces() {
        return duplicatePieces;
    }

    /** Returns whether a piece of a batch arrived damaged and was requested again. */
    boolean isRefused(Span span, long index) {
        return damaged.hasAny(span, index);
    }

    /** See {@link FeederConnection.Sink#onBatch}. */
    void onBatch(FeederConnection connection, ByteBuffer header, ByteBuffer message, int crc)
            throws ConnectionLostException {
        lock.lock();
        try {
            take(connection, header(header, message.remaining()), message, crc);
        } finally {
            lock.unlock();
        }
    }

    private void take(FeederConnection connection, Optional<BatchHeader> header, ByteBuffer message, int crc)
            throws ConnectionLostException {
        if (header.isEmpty()
                || header.get().crc() != crc
                || !subscriptions.wasGiven(header.get().subscription())) {
            onDamage(connection, header, crc);
            buffers.giveBack(message);
        } else if (!accept(connection, header.get(), message)) {
            buffers.giveBack(message);
        }
    }

    /** See {@link FeederConnection.Sink#onReference}. */
    void onReference(FeederConnection connection, BatchRef reference) throws ConnectionLostException {
        LocalReads files = connection.files().orElseThrow();
        BatchHeader header = reference.header();
        ByteBuffer message = buffers.take(header.messageBytes());
        pageReads.begin();
        OptionalInt sum = files.read(reference, message);
        long diskNs = pageReads.end();
        message.clear().limit(header.messageBytes());
        // A message that cannot be read counts as one with a wrong checksum.
        int crc = sum.isPresent()
                ? header.identity().crc(header.source(), sum.getAsInt(), header.messageBytes())
                : ~header.crc();
        lock.lock();
        try {
            if (diskNs > 0) {
                // The feeder cannot know the time: the pages were read on this side.
                clientStats.readFromDisk(header.identity(), diskNs);
            }
            files.due().ifPresent(count -> connection.send(new Release(count)));
            localReadBytes += header.messageBytes();
            if (crc != header.crc() && ++connection.faults > MAX_REFUSED) {
                // The replacements arrive over the connection. If these are always intact, the files are the cause.
                network.pool().local().refuseLocalReads(connection.address());
                throw ConnectionLostException.lost(connection.address() + ": local reads of its chunk files fail here");
            }
            take(connection, Optional.of(header), message, crc);
        } finally {
            lock.unlock();
        }
    }

    /** A feeder announces a file of this machine. */
    void onFile(FeederConnection connection, FileAnnouncement file) throws ConnectionLostException {
        if (connection.files().isEmpty()) {
            throw ConnectionLostException.broken(connection.address() + " sent FILE, but local reads were not agreed");
        }
        try {
            connection.files().get().announce(file);
        } catch (LocalReadException e) {
            lock.lock();
            try {
                network.pool().local().refuseLocalReads(connection.address());
            } finally {
                lock.unlock();
            }
            throw ConnectionLostException.lost(connection.address() + ": " + e.getMessage());
        }
    }

    private static Optional<BatchHeader> header(ByteBuffer in, int messageBytes) {
        if (in.getInt(72) != 0) {
            return Optional.empty();
        }
        try {
            BatchIdentity identity = new BatchIdentity(
                    in.getLong(8),
                    in.getLong(16),
                    Integer.toUnsignedLong(in.getInt(24)),
                    Integer.toUnsignedLong(in.getInt(28)),
                    in.getLong(32),
                    Short.toUnsignedInt(in.getShort(40)),
                    Short.toUnsignedInt(in.getShort(42)),
                    Integer.toUnsignedLong(in.getInt(44)),
                    Integer.toUnsignedLong(in.getInt(48)),
                    in.get(5) == 1);
            PieceSource source = new PieceSource(Integer.toUnsignedLong(in.getInt(52)), in.getLong(56), in.getInt(64));
            long subscription = Integer.toUnsignedLong(in.getInt(68));
            return Optional.of(
                    new BatchHeader(identity, source, subscription, messageBytes, in.getInt(BatchHeader.CRC_AT)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Stores an intact piece, unless it has arrived before. */
    private boolean accept(FeederConnection connection, BatchHeader header, ByteBuffer message)
            throws ConnectionLostException {
        BatchIdentity identity = header.identity();
        long feedTag = agreement.agreed().feed().id().getMostSignificantBits();
        long fingerprintTag = agreement.agreed().pass().fingerprint().tag();
        if (identity.feedTag() != feedTag || identity.fingerprintTag() != fingerprintTag) {
            network.fail(new FeedProtocolException(
                    String.format(
                            "%s sent a batch of feed %016x, fingerprint %016x; expected %016x, %016x: it serves another"
                                    + " feed",
                            connection.address(),
                            identity.feedTag(),
                            identity.fingerprintTag(),
                            feedTag,
                            fingerprintTag),
                    "wrong_feed"));
            return false;
        }
        if (header.source().viewTag() != agreement.view().tag()) {
            throw ConnectionLostException.broken(
                    connection.address() + " sent a batch with other columns than were selected");
        }
        Span span = subscriptions.receiving();
        long index = span != null && span.range().epoch() == identity.epoch() ? span.index(identity.number()) : -1;
        if (span == null || index < 0 || !span.requests(index, identity.piece())) {
            duplicatePieces++;
            return false;
        }
        if (index > span.granted) {
            throw ConnectionLostException.broken(connection.address() + " sent epoch " + identity.epoch() + " batch "
                    + identity.number() + "; the grant ends at " + span.number(span.granted));
        }
        Optional<String> mismatch = span.mismatch(index, identity);
        if (mismatch.isPresent()) {
            throw ConnectionLostException.broken(mismatch.get());
        }
        damaged.repaired(new Span.Place(index, identity.piece()));
        renewals = 0;
        network.sound();
        bytes += message.remaining();
        if (span.add(index, new ReceivedPiece(header, message, connection, connection.address()))) {
            changed.signalAll();
            if (span.isReceived()) {
                subscriptions.goOn(network.pool().live());
            }
        }
        return true;
    }

    /** Requests a piece again. The order determines which piece it was, because the header itself can be damaged. */
    private void onDamage(FeederConnection connection, Optional<BatchHeader> header, int crc) {
        corruptPieces++;
        Optional<Span> current = subscriptions.current(connection);
        if (current.isEmpty()) {
            return;
        }
        Span span = current.get();
        damaged.select(span);
        Optional<Span.Place> named = header.map(BatchHeader::identity)
                .filter(identity -> identity.epoch() == span.range().epoch())
                .map(identity -> new Span.Place(span.index(identity.number()), identity.piece()))
                .filter(damaged::contains);
        Optional<Span.Place> victim = named.or(() -> span.lowestMissing(connection.lanes, damaged::contains));
        if (victim.isEmpty()) {
            return;
        }
        int times = damaged.add(victim.get(), System.nanoTime());
        long number = span.number(victim.get().index());
        if (times > MAX_REFUSED) {
            network.fail(new CorruptBatchException("epoch " + span.range().epoch() + " batch " + number + " piece "
                    + victim.get().piece() + " arrived damaged " + times + " times from feeder "
                    + connection.address()
                    + "; run `stoker verify` on the dataset; if it is intact,"
                    + " check the memory and network of both machines"));
            return;
        }
        connection.send(new Nack(
                connection.subscription,
                span.range().epoch(),
                number,
                victim.get().piece(),
                crc));
    }

    /** Subscribes again if a rejected piece does not arrive, for example because the damaged header hid its place. */
    void renewStale(long nowNs, long refetchNs) {
        damaged.keepOnly(subscriptions.receiving());
        if (damaged.isOverdue(nowNs, refetchNs)) {
            for (FeederConnection connection : network.pool().live()) {
                if (subscriptions.current(connection).isPresent()) {
                    subscriptions.subscribe(connection);
                }
            }
        }
    }

    /** A feeder has sent all that it was asked for. */
    void onEpochEnd(FeederConnection connection, EpochEnd end) throws ConnectionLostException {
        Optional<Span> span = subscriptions.current(connection);
        if (span.isEmpty() || end.subscription() != connection.subscription) {
            return;
        }
        damaged.select(span.get());
        Optional<Span.Place> missing = span.get().lowestMissing(connection.lanes, damaged::contains);
        if (missing.isEmpty()) {
            return;
        }
        renewals++;
        if (renewals > MAX_REFUSED) {
            throw ConnectionLostException.broken(connection.address() + " ended epoch "
                    + span.get().range().epoch()
                    + " without batch " + span.get().number(missing.get().index()) + " piece "
                    + missing.get().piece());
        }
        subscriptions.subscribe(connection);
    }
}
