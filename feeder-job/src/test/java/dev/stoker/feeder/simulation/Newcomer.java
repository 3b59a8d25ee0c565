package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Bye;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.codec.FrameDecoder;
import dev.stoker.schemas.protocol.codec.Frames;
import dev.stoker.schemas.protocol.parts.Caller;
import java.nio.ByteBuffer;
import java.util.Optional;

/** A second process that asks a feeder for the place of a trainer. The feeder must reply that the place is taken. */
final class Newcomer implements Network.Receiver {
    private final Trainer holder;
    private final TrainingGroup group;
    private final String address;
    private final SimulatedProcess process;
    private final FrameDecoder decoder = FrameDecoder.forClient();
    /** The holder's connection to the feeder; null if it had none when the newcomer connected. */
    private final TrainerLink held;

    private Connection connection;

    Newcomer(TrainingGroup group, Trainer holder, String address) {
        this.group = group;
        this.holder = holder;
        this.address = address;
        this.process = new SimulatedProcess(holder.simulation(), holder + " newcomer");
        this.held = holder.liveLink(address);
    }

    void come() {
        holder.simulation().trace(process.name(), "wants the place at " + address);
        connection = group.network().connect(process, address, this);
    }

    @Override
    public void connected() {
        connection.send(Frames.encode(new Hello(
                        Optional.empty(),
                        "model/1",
                        new Hello.PassRequest(
                                Optional.empty(),
                                Optional.of(group.stream()),
                                group.name(),
                                OrderOverlay.fromJson("{}")),
                        holder.participant,
                        holder.replica,
                        0)
                .skipping(group.batches().skip())
                .by(new Caller(0, 0, false, Optional.of(Trainer.newInstance(holder.simulation())), Optional.empty()))));
    }

    @Override
    public void received(byte[] bytes) {
        try {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            while (in.hasRemaining()) {
                decoder.next(in).ifPresent(this::received);
            }
        } catch (ProtocolException e) {
            throw new AssertionError("the server sent bytes that are not a frame", e);
        }
    }

    private void received(Frame frame) {
        if (frame instanceof ErrorMessage error) {
            holder.simulation().trace(process.name(), address + " says " + error.code() + ": " + error.message());
            if (!error.code().equals("place_taken")
                    && !error.code().equals("shutting_down")
                    && !error.code().equals("origin_unavailable")) {
                throw new AssertionError("a newcomer at the place of " + holder + " was answered " + error.code());
            }
        } else if (frame instanceof Welcome) {
            holder.simulation().trace(process.name(), address + " lets it in");
            if (held != null && held.isSound()) {
                throw new AssertionError("a newcomer was given the place of " + holder + " at " + address);
            }
            connection.send(Frames.encode(new Bye()));
            connection.closeClient();
        }
    }

    @Override
    public void closed(String why) {
        // Expected after the feeder has told the newcomer to leave.
    }
}
