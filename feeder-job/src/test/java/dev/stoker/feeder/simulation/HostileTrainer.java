package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.Ack;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/** A client that is admitted and then sends frames that no trainer sends. It must not affect any other client. */
final class HostileTrainer implements Network.Receiver {
    private enum Attack {
        /** Receipts before anything was asked for. */
        ACK_FIRST,
        /** Receipts with counts that no signed number holds. */
        HUGE_COUNTS,
        /** Receipts of numbers that the epoch does not have. */
        BEYOND_THE_END,
        /** Bytes that are no frame. */
        GARBAGE,
        /** Half of a frame, and then nothing. */
        HALF_A_FRAME
    }

    /** The group of hostile trainers only. The ledger must never have a receipt of it. */
    static final String GROUP = "hostile";

    private static final long HUGE = 0x9000_0000L;

    private final Simulation simulation;
    private final SimulatedProcess process;
    private final FrameDecoder decoder = FrameDecoder.forClient();
    private final Attack attack;
    private final String address;
    private Connection connection;

    /** @param maySubscribe whether the feed ends without this trainer's group */
    HostileTrainer(Cluster cluster, String address, boolean maySubscribe) {
        this.simulation = cluster.simulation();
        this.process = new SimulatedProcess(simulation, "hostile");
        this.address = address;
        Attack[] attacks = Attack.values();
        Attack drawn = attacks[(int) simulation.between(0, attacks.length - 1)];
        this.attack = drawn == Attack.HUGE_COUNTS && !maySubscribe ? Attack.ACK_FIRST : drawn;
    }

    void attack(Network network) {
        simulation.trace("hostile", "attacks " + address + ": " + attack);
        connection = network.connect(process, address, this);
    }

    @Override
    public void connected() {
        send(new Hello(
                Optional.empty(),
                "hostile/1",
                new Hello.PassRequest(Optional.empty(), Optional.empty(), GROUP, OrderOverlay.fromJson("{}")),
                Participant.rank(0, 1),
                0,
                0));
    }

    @Override
    public void received(byte[] bytes) {
        try {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            while (in.hasRemaining()) {
                Optional<Frame> frame = decoder.next(in);
                if (frame.isPresent() && frame.get() instanceof Welcome) {
                    strike();
                }
            }
        } catch (ProtocolException e) {
            throw new AssertionError("the server sent bytes that are not a frame", e);
        }
    }

    private void strike() {
        switch (attack) {
            case ACK_FIRST -> acknowledge(0, 5);
            case HUGE_COUNTS -> {
                send(new Subscribe(1, 0, 0, 1, 1, TailPolicy.KEEP, List.of()));
                send(new Grant(1, 0));
                acknowledge(0, HUGE);
            }
            case BEYOND_THE_END -> {
                // Which holds no feed.
                send(new Subscribe(1, 0, 0, 1, 0, TailPolicy.KEEP, List.of()));
                acknowledge(1L << 40, 5);
            }
            case GARBAGE -> {
                byte[] garbage = new byte[200];
                simulation.random.nextBytes(garbage);
                connection.send(ByteBuffer.wrap(garbage));
            }
            case HALF_A_FRAME -> {
                ByteBuffer frame = Frames.encode(new Subscribe(1, 0, 0, 1, 1, TailPolicy.KEEP, List.of()));
                connection.send(frame.limit(frame.limit() / 2));
                connection.closeClient();
            }
            default -> throw new IllegalStateException("no such attack: " + attack);
        }
    }

    private void acknowledge(long number, long rows) {
        send(new Ack(1, 0, List.of(new AckEntry(number, 0, false, 7, rows, 0, rows, 0))));
    }

    private void send(Frame frame) {
        connection.send(Frames.encode(frame));
    }

    @Override
    public void closed(String why) {
        simulation.trace("hostile", "was thrown out: " + why);
    }
}
