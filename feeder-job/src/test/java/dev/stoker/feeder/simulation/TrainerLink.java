package dev.stoker.feeder.simulation;

import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** One connection of a trainer to a feeder, with the receipts that were sent over it. */
final class TrainerLink implements Network.Receiver {
    /** Receipts of one epoch that belong together; empty for a subscription without batches. */
    record Receipts(long epoch, List<AckEntry> entries) {
        int count() {
            return Math.max(1, entries.size());
        }
    }

    final String address;
    private final Trainer trainer;
    private final FrameDecoder decoder = FrameDecoder.forClient();
    private Connection connection;
    boolean isLive;
    boolean isClosed;

    /** The subscription, its span, and the requested lanes. The span is null before the first subscription. */
    long subscription;

    TrainerSpan span;
    Set<Integer> lanes = Set.of();
    long granted = -1;

    long heardNanos;
    long pinged;
    long ponged;

    private final Deque<Receipts> undurable = new ArrayDeque<>();
    private final List<AckEntry> pending = new ArrayList<>();
    private long pendingEpoch;
    private long sentEntries;
    private long durableEntries;

    TrainerLink(Trainer trainer, String address) {
        this.trainer = trainer;
        this.address = address;
    }

    void open(Network network, SimulatedProcess process) {
        heardNanos = network.simulation.nowNanos();
        connection = network.connect(process, address, this);
    }

    void send(Frame frame) {
        connection.send(Frames.encode(frame));
    }

    @Override
    public void connected() {
        if (!isClosed) {
            trainer.greet(this);
        }
    }

    @Override
    public void received(byte[] bytes) {
        ByteBuffer in = ByteBuffer.wrap(bytes);
        try {
            while (in.hasRemaining() && !isClosed) {
                Optional<Frame> frame = decoder.next(in);
                if (frame.isPresent()) {
                    trainer.received(this, frame.get());
                }
            }
        } catch (ProtocolException e) {
            throw new AssertionError(
                    trainer + " got bytes from " + address + " that are not a frame: " + e.getMessage(), e);
        }
    }

    @Override
    public void closed(String why) {
        if (!isClosed) {
            trainer.lost(this, why);
        }
    }

    /** Ends the connection from this side. Another connection must repeat receipts that are not durable. */
    List<Receipts> end(boolean inGoodOrder) {
        if (inGoodOrder && isLive) {
            send(new Bye());
        }
        isClosed = true;
        isLive = false;
        if (connection != null) {
            connection.closeClient();
        }
        List<Receipts> orphans = new ArrayList<>(undurable);
        orphans.removeIf(receipts -> receipts.entries.isEmpty());
        undurable.clear();
        if (!pending.isEmpty()) {
            orphans.add(new Receipts(pendingEpoch, List.copyOf(pending)));
            pending.clear();
        }
        return orphans;
    }

    // ---- receipts

    /** Adds the receipt of a consumed piece, which is sent soon. */
    void acknowledge(long epoch, AckEntry entry) {
        if (pendingEpoch != epoch) {
            flush();
        }
        pendingEpoch = epoch;
        pending.add(entry);
    }

    void flush() {
        if (!pending.isEmpty() && isLive) {
            List<AckEntry> entries = List.copyOf(pending);
            pending.clear();
            send(new Receipts(pendingEpoch, entries));
        }
    }

    /** Notes that a subscription without batches was sent, which counts as one entry. */
    void sentEmptyShare(long epoch) {
        undurable.add(new Receipts(epoch, List.of()));
        sentEntries++;
    }

    void send(Receipts receipts) {
        undurable.add(receipts);
        sentEntries += receipts.entries.size();
        send(new Ack(subscription, receipts.epoch, receipts.entries));
    }

    /** Handles the number of entries of this session that are durable at the feeder. Returns the newly durable ones. */
    List<Receipts> durable(long entries) {
        if (entries > sentEntries || entries < durableEntries) {
            throw new AssertionError(trainer + ": " + address + " calls " + entries + " receipts durable, after "
                    + durableEntries + "; it was sent " + sentEntries);
        }
        List<Receipts> covered = new ArrayList<>();
        while (!undurable.isEmpty() && durableEntries + undurable.peek().count() <= entries) {
            durableEntries += undurable.peek().count();
            covered.add(undurable.poll());
        }
        return covered;
    }

    /** Returns whether both ends know of the connection, to the extent that this side can tell. */
    boolean isSound() {
        return isLive && !isClosed && connection.isOpen();
    }

    boolean isConfirmed() {
        return pending.isEmpty() && undurable.isEmpty();
    }

    @Override
    public String toString() {
        return address + (isLive ? "" : " (not welcomed)") + (span == null ? "" : " subscription " + subscription);
    }
}
