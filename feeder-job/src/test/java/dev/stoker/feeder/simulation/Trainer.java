package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Frame.Durable;
import dev.stoker.schemas.protocol.Frame.Grant;
import dev.stoker.schemas.protocol.Frame.Ping;
import dev.stoker.schemas.protocol.Frame.Pong;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.Instance;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A trainer that follows {@code docs/formats/feed-protocol.md}: one rank, or one of its loader workers. It sends and
 * receives the frames: it subscribes at the feeders that {@link TrainerFeeders} chooses, grants batches, and repeats
 * receipts that are not durable. {@link TrainerReading} checks and consumes the batches.
 */
final class Trainer {
    private static final long LOOK_NANOS = 250 * Simulation.MILLI;
    private static final long ACK_NANOS = 50 * Simulation.MILLI;

    private final TrainingGroup group;
    private final Simulation simulation;
    final SimulatedProcess process;
    final Participant participant;
    final int replica;
    /** The run that the user names, or 0. */
    private final long named;
    /** The process, which all of its connections have in common. */
    private final Instance instance;
    /** The run in the last WELCOME. */
    private long joined;

    private boolean wasWelcomed;
    private long run;

    private final TrainerFeeders feeders;
    final TrainerReading reading;
    private final Set<TrainerLink> refused = new HashSet<>();
    /** Receipts whose connection ended before they were durable. */
    private final Deque<TrainerLink.Receipts> orphans = new ArrayDeque<>();

    private long nextSubscription;
    private boolean hasLeft;
    private boolean flushing;
    private boolean isAbandoned;
    /** Whether a greater run has begun. The feeder must tell this trainer so, and the trainer must stop. */
    private boolean isSuperseded;

    /**
     * The runs that a trainer begins with.
     *
     * @param named the run that the user names, or 0
     * @param joined the run of a feeder that admitted it before the simulation began, or 0
     */
    record Runs(long named, long joined) {}

    /** @param instance the process that the trainer reports */
    Trainer(TrainingGroup group, Participant participant, int replica, Runs runs, Position begin, Instance instance) {
        this.group = group;
        this.simulation = group.network().simulation;
        this.participant = participant;
        this.replica = replica;
        this.run = Math.max(runs.named, runs.joined);
        this.named = runs.named;
        this.joined = runs.joined;
        this.process = new SimulatedProcess(simulation, toString());
        this.instance = instance;
        this.feeders = new TrainerFeeders(this, group);
        this.reading = new TrainerReading(this, group, begin);
    }

    /** Returns a new, unique process. */
    static Instance newInstance(Simulation simulation) {
        return new Instance("simulated", simulation.between(1, 1 << 30), simulation.nowNanos(), "simulated");
    }

    Instance instance() {
        return instance;
    }

    Simulation simulation() {
        return simulation;
    }

    @Override
    public String toString() {
        return group.name() + " r" + participant.rank() + (participant.workers() > 1 ? "w" + participant.worker() : "")
                + (replica > 0 ? "*" + replica : "");
    }

    void start() {
        look();
    }

    boolean isRead() {
        return reading.isRead();
    }

    /** Returns whether a feeder has ever admitted it. */
    boolean hasJoined() {
        return wasWelcomed;
    }

    long run() {
        return run;
    }

    void trace(String what) {
        simulation.trace(toString(), what);
    }

    private void look() {
        if (hasLeft) {
            return;
        }
        arrange();
        simulation.after(LOOK_NANOS, process, "look", this::look);
    }

    /** Opens and closes connections, and subscribes on them if necessary. */
    void arrange() {
        feeders.arrange();
    }

    /** Handles a connection that has ended, or on which no answer came. */
    void lost(TrainerLink link, String why) {
        if (!isAbandoned) {
            feeders.lost(link, why);
        }
    }

    /** Takes the receipts of a connection that has ended. Another connection repeats them. */
    void orphaned(List<TrainerLink.Receipts> receipts) {
        orphans.addAll(receipts);
    }

    // ---- frames

    void greet(TrainerLink link) {
        link.heardNanos = simulation.nowNanos();
        link.send(new Hello(
                        Optional.empty(),
                        "model/1",
                        new Hello.PassRequest(
                                Optional.empty(),
                                Optional.of(group.stream()),
                                group.name(),
                                OrderOverlay.fromJson("{}")),
                        participant,
                        replica,
                        named)
                .skipping(group.batches().skip())
                .by(new Caller(joined, simulation.nowNanos() + 1, false, Optional.of(instance), Optional.empty())));
    }

    void received(TrainerLink link, Frame frame) {
        if (isAbandoned) {
            return;
        }
        link.heardNanos = simulation.nowNanos();
        if (frame instanceof Batch batch) {
            reading.received(link, batch);
        } else if (frame instanceof Durable durable) {
            link.durable(durable.entries()).forEach(receipts -> group.requireWritten(this, receipts));
            if (link.span != null && link.span.count == 0 && link.isConfirmed()) {
                link.span.isTold = true;
            }
            leaveIfDone();
        } else if (frame instanceof Welcome welcome) {
            welcomed(link, welcome);
        } else if (frame instanceof LaneMap map) {
            feeders.update(map);
        } else if (frame instanceof Pong) {
            link.ponged = link.pinged;
        } else if (frame instanceof Ping ping) {
            link.send(new Pong(ping.opaque()));
        } else if (frame instanceof ErrorMessage error) {
            refused(link, error);
        }
    }

    private void refused(TrainerLink link, ErrorMessage error) {
        trace(link.address + " says " + error.code() + ": " + error.message());
        if (isSuperseded && error.code().equals("fenced")) {
            process.kill();
            return;
        }
        boolean isByItself = error.code().equals("fenced") && feeders.wasLeftEarly(link.address);
        // The feeder may not have noticed yet that the previous process has died.
        boolean isTaken = error.code().equals("place_taken") && (group.isContested() || isSuperseded);
        if (!isByItself
                && !isTaken
                && !error.code().equals("shutting_down")
                && !error.code().equals("origin_unavailable")) {
            simulation.fail(new AssertionError("session of " + this + " at " + link.address + " was ended: "
                    + error.code() + " " + error.message()));
        }
        if (refused.add(link)) {
            lost(link, error.code());
        }
    }

    private void welcomed(TrainerLink link, Welcome welcome) {
        feeders.welcomed(link);
        trace("welcomed by " + link.address + " in run " + welcome.session().run());
        run = welcome.session().run();
        joined = welcome.session().run();
        wasWelcomed = true;
        feeders.update(welcome.laneMap());
        reading.start();
        arrange();
        reading.pace();
    }

    /** Subscribes to these lanes, unless the connection already has the right subscription. */
    void settle(TrainerLink link, Set<Integer> lanes) {
        TrainerSpan receiving = reading.receiving();
        if (receiving == null) {
            return;
        }
        boolean wanted;
        if (receiving.count == 0) {
            wanted = link.span != receiving;
        } else if (receiving.isReceived()) {
            wanted = link.span == null && !orphans.isEmpty();
        } else {
            wanted = link.span != receiving || !link.lanes.equals(lanes);
        }
        if (wanted) {
            subscribe(link, lanes);
        } else if (link.span != null) {
            adopt(link);
        }
    }

    private void subscribe(TrainerLink link, Set<Integer> lanes) {
        TrainerSpan receiving = reading.receiving();
        link.subscription = ++nextSubscription;
        link.span = receiving;
        link.lanes = lanes;
        link.granted = -1;
        int first = receiving.complete;
        List<Integer> named = lanes.size() == feeders.lanes() ? List.of() : List.copyOf(lanes);
        trace("asks " + link.address + " for epoch " + receiving.epoch + " from " + receiving.number(first) + ", "
                + (receiving.count - first) + " numbers, lanes " + lanes);
        link.send(new Subscribe(
                link.subscription,
                receiving.epoch,
                receiving.number(first),
                participant.stride(),
                receiving.count - first,
                group.tail(),
                named,
                receiving.count == 0,
                reading.begin(receiving)));
        if (receiving.count == 0) {
            link.sentEmptyShare(receiving.epoch);
        }
        adopt(link);
        grant(link);
    }

    /** Sends receipts again if their connection ended before they were durable. */
    private void adopt(TrainerLink link) {
        while (!orphans.isEmpty()) {
            TrainerLink.Receipts receipts = orphans.poll();
            trace("repeats " + receipts.entries().size() + " receipts of epoch " + receipts.epoch() + " at "
                    + link.address);
            link.send(receipts);
        }
    }

    private void grant(TrainerLink link) {
        TrainerSpan receiving = reading.receiving();
        int through = reading.through();
        if (link.span == receiving && link.isLive && through >= 0 && receiving.number(through) > link.granted) {
            link.granted = receiving.number(through);
            link.send(new Grant(link.subscription, link.granted));
        }
    }

    void grantAll() {
        feeders.links().forEach(this::grant);
    }

    /** Sends all receipts that wait. */
    void flush() {
        feeders.links().forEach(TrainerLink::flush);
    }

    /** Sends the receipts that wait after a short time. */
    void flushSoon() {
        if (!flushing) {
            flushing = true;
            simulation.after(ACK_NANOS, process, "flush", () -> {
                flushing = false;
                flush();
                arrange();
            });
        }
    }

    // ---- the end

    /** Returns whether the feed can end without it. */
    boolean isDone() {
        return hasLeft || (isRead() && isConfirmed());
    }

    /** Leaves when all its receipts are durable, including the receipt that it has no batch. */
    void leaveIfDone() {
        if (isRead() && !hasLeft && isConfirmed()) {
            leave("all is durable");
        }
    }

    boolean hasLeft() {
        return hasLeft;
    }

    boolean isAbandoned() {
        return isAbandoned;
    }

    /** Stops to read and to answer, but leaves the connections open, as a program does that is busy elsewhere. */
    void abandon() {
        hasLeft = true;
        isAbandoned = true;
    }

    /** Notes that a greater run has begun without it. */
    void supersede() {
        isSuperseded = true;
    }

    /** Returns the connection to this feeder, if the feeder has answered on it. */
    TrainerLink liveLink(String address) {
        return feeders.live(address);
    }

    /** Returns whether the receipts of all consumed batches are durable. */
    boolean isConfirmed() {
        return reading.isConfirmed() && orphans.isEmpty() && feeders.areConfirmed();
    }

    void leave(String why) {
        hasLeft = true;
        trace("leaves: " + why);
        feeders.dropAll();
    }

    String describe() {
        return "  " + this + ": epoch " + reading.describe() + ", " + feeders.describe() + ", orphans "
                + orphans.size() + (isRead() ? ", has read everything" : "") + (hasLeft ? ", has left" : "")
                + '\n';
    }
}
