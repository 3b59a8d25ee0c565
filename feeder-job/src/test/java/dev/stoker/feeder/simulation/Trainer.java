package dev.stoker.feeder.simulation;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.order.DeliveredPiece;
import dev.stoker.schemas.order.Delivery;
import dev.stoker.schemas.order.OrderOverlay;
import dev.stoker.schemas.order.Participant;
import dev.stoker.schemas.order.Position;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.schemas.protocol.Batch;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.Caller;
import dev.stoker.schemas.protocol.Durable;
import dev.stoker.schemas.protocol.ErrorMessage;
import dev.stoker.schemas.protocol.Frame;
import dev.stoker.schemas.protocol.Grant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.Instance;
import dev.stoker.schemas.protocol.LaneMap;
import dev.stoker.schemas.protocol.Ping;
import dev.stoker.schemas.protocol.Pong;
import dev.stoker.schemas.protocol.Subscribe;
import dev.stoker.schemas.protocol.Welcome;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A trainer that follows {@code docs/formats/feed-protocol.md}: one rank, or one of its loader workers. It reads from
 * all feeders of the lane map, fails over, repeats receipts that are not durable, and checks everything that it
 * receives.
 */
final class Trainer {
    private static final long LOOK_NANOS = 250 * Simulation.MILLI;
    private static final long CONNECT_NANOS = 500 * Simulation.MILLI;
    private static final long SILENCE_NANOS = 2 * Simulation.SECOND;
    private static final long ACK_NANOS = 50 * Simulation.MILLI;

    private final TrainingGroup group;
    private final Network network;
    private final Simulation simulation;
    final SimulatedProcess process;
    final Participant participant;
    final int replica;
    /** The run that the user names, or 0. */
    private final long named;
    /** The process, which all of its connections have in common. */
    private final Instance instance;
    /** The run in the last WELCOME; 0 before the first. */
    private long joined;

    private long run;

    private final Map<String, TrainerLink> links = new TreeMap<>();
    /** Feeders that did not answer, and when they may be tried again. */
    private final Map<String, Long> down = new TreeMap<>();

    private final Set<TrainerLink> refused = new HashSet<>();
    /** Feeders that this trainer left before they answered. They may still admit a connection that waits there. */
    private final Set<String> givenUp = new HashSet<>();

    private final Deque<TrainerLink.Receipts> orphans = new ArrayDeque<>();
    private LaneMap laneMap;
    private long nextSubscription;
    private Position begin;
    private TrainerSpan reading;
    private TrainerSpan receiving;
    /** The receipts of the batch that the model works on. They are sent when it asks for the next batch. */
    private List<TrainerSpan.Arrival> inHand = List.of();

    private boolean steps;
    private boolean isRead;
    private boolean hasLeft;
    private boolean flushing;
    private boolean isAbandoned;
    /** Whether a greater run has begun. The feeder must tell this trainer so, and the trainer must stop. */
    private boolean isSuperseded;

    /** @param instance the process that the trainer reports */
    Trainer(TrainingGroup group, Participant participant, int replica, long run, Position begin, Instance instance) {
        this.group = group;
        this.network = group.network();
        this.simulation = network.simulation;
        this.participant = participant;
        this.replica = replica;
        this.run = run;
        this.named = run;
        this.begin = begin;
        this.process = new SimulatedProcess(simulation, toString());
        this.instance = instance;
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

    /** Returns where it began, or where it was told to continue. */
    Position begin() {
        return begin;
    }

    boolean isRead() {
        return isRead;
    }

    /** Returns whether a feeder has ever admitted it. */
    boolean hasJoined() {
        return joined > 0;
    }

    long run() {
        return run;
    }

    /** Returns the first step of its rank that it has not consumed: epoch, start of the epoch, and step. */
    Position next() {
        if (isRead) {
            return new Position(group.epochs(), 0);
        }
        if (reading == null) {
            return begin;
        }
        if (reading.consumed == reading.count) {
            return new Position(reading.epoch + 1, 0);
        }
        long step = reading.delivery.rankStep(reading.consumed);
        return step == 0
                ? new Position(reading.epoch, reading.delivery.start())
                : reading.delivery.after(reading.epoch, step - 1);
    }

    private void trace(String what) {
        simulation.trace(toString(), what);
    }

    // ---- looking after connections

    private void look() {
        if (hasLeft) {
            return;
        }
        arrange();
        simulation.after(LOOK_NANOS, process, "look", this::look);
    }

    private void arrange() {
        if (hasLeft) {
            return;
        }
        for (TrainerLink link : List.copyOf(links.values())) {
            watch(link);
        }
        if (laneMap == null) {
            if (links.isEmpty()) {
                group.addresses().stream()
                        .filter(this::isUp)
                        .skip(simulation.between(
                                0, Math.max(0, group.addresses().size() - 1)))
                        .findFirst()
                        .ifPresent(this::connect);
            }
            return;
        }
        Map<String, Set<Integer>> wanted = new TreeMap<>();
        for (int lane = 0; lane < laneMap.lanes().size(); lane++) {
            wanted.computeIfAbsent(addressOf(lane), a -> new TreeSet<>()).add(lane);
        }
        for (String address : wanted.keySet()) {
            if (!links.containsKey(address) && isUp(address)) {
                connect(address);
            }
        }
        for (TrainerLink link : List.copyOf(links.values())) {
            Set<Integer> lanes = wanted.getOrDefault(link.address, Set.of());
            if (!link.isLive) {
                continue;
            }
            if (lanes.isEmpty()) {
                trace(link.address + " is not needed");
                link.flush();
                drop(link, true);
            } else {
                settle(link, lanes);
            }
        }
    }

    private boolean isUp(String address) {
        return down.getOrDefault(address, 0L) <= simulation.nowNanos();
    }

    private String addressOf(int lane) {
        List<String> preferred = new ArrayList<>();
        laneMap.lanes()
                .get(lane)
                .forEach(index -> preferred.add(laneMap.addresses().get(index)));
        for (String address : preferred) {
            if (isUp(address)) {
                return address;
            }
        }
        for (String address : group.addresses()) {
            if (isUp(address)) {
                return address;
            }
        }
        return preferred.isEmpty() ? group.addresses().iterator().next() : preferred.get(0);
    }

    private void connect(String address) {
        TrainerLink link = new TrainerLink(this, address);
        links.put(address, link);
        link.open(network, process);
        simulation.after(CONNECT_NANOS, process, "connect time-out", () -> {
            if (!link.isLive && !link.isClosed) {
                givenUp.add(address);
                lost(link, "no answer");
            }
        });
    }

    private void watch(TrainerLink link) {
        long silent = simulation.nowNanos() - link.heardNanos;
        if (!link.isLive || silent < SILENCE_NANOS || isIdle(link)) {
            return;
        }
        if (link.pinged == link.ponged) {
            link.send(new Ping(++link.pinged));
            link.heardNanos = simulation.nowNanos();
        } else {
            lost(link, "a PING was not answered");
        }
    }

    /** Returns whether nothing is due on the connection, so that silence is normal. */
    private boolean isIdle(TrainerLink link) {
        return receiving == null
                || (receiving.isReceived() && link.isConfirmed())
                || (!receiving.isReceived() && receiving.missingLanes().stream().noneMatch(link.lanes::contains));
    }

    /** Handles a connection that has ended, or that nobody answered. */
    void lost(TrainerLink link, String why) {
        if (isAbandoned) {
            return;
        }
        trace("lost " + link + ": " + why);
        down.put(link.address, simulation.nowNanos() + simulation.between(20, 500) * Simulation.MILLI);
        drop(link, false);
        simulation.after(simulation.between(0, 20) * Simulation.MILLI, process, "arrange", this::arrange);
    }

    private void drop(TrainerLink link, boolean inGoodOrder) {
        orphans.addAll(link.end(inGoodOrder));
        links.remove(link.address, link);
    }

    // ---- frames

    void greet(TrainerLink link) {
        link.heardNanos = simulation.nowNanos();
        link.send(new Hello(
                Optional.empty(),
                Optional.empty(),
                Optional.of(group.stream()),
                group.name(),
                OrderOverlay.fromJson("{}"),
                participant,
                replica,
                named,
                "model/1",
                0,
                0,
                OptionalLong.empty(),
                OptionalLong.empty(),
                new Caller(joined, simulation.nowNanos() + 1, false, Optional.of(instance), Optional.empty())));
    }

    void received(TrainerLink link, Frame frame) {
        if (isAbandoned) {
            return;
        }
        link.heardNanos = simulation.nowNanos();
        if (frame instanceof Batch batch) {
            batch(link, batch);
        } else if (frame instanceof Durable durable) {
            link.durable(durable.entries()).forEach(receipts -> group.requireWritten(this, receipts));
            if (link.span != null && link.span.count == 0 && link.isConfirmed()) {
                link.span.isTold = true;
            }
            leaveIfDone();
        } else if (frame instanceof Welcome welcome) {
            welcomed(link, welcome);
        } else if (frame instanceof LaneMap map) {
            newMap(map);
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
        boolean isByItself = error.code().equals("fenced") && givenUp.contains(link.address);
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
        link.isLive = true;
        down.remove(link.address);
        trace("welcomed by " + link.address + " in run " + welcome.run());
        run = welcome.run();
        joined = welcome.run();
        newMap(welcome.laneMap());
        if (reading == null) {
            reading = span(begin);
            receiving = reading;
            skipEmpty();
        }
        arrange();
        pace();
    }

    private TrainerSpan span(Position at) {
        Delivery delivery = new Delivery(group.oracle().size(), group.tail(), participant, at.batch());
        return new TrainerSpan(group.oracle(), at.epoch(), delivery);
    }

    private void newMap(LaneMap map) {
        if (laneMap == null
                || (map.compareTo(laneMap) > 0
                        && map.lanes().size() == group.oracle().lanes())) {
            boolean isFirst = laneMap == null;
            laneMap = map;
            down.clear();
            if (!isFirst) {
                arrange();
            }
        }
    }

    private void settle(TrainerLink link, Set<Integer> lanes) {
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
        link.subscription = ++nextSubscription;
        link.span = receiving;
        link.lanes = lanes;
        link.granted = -1;
        int first = receiving.complete;
        List<Integer> named = lanes.size() == laneMap.lanes().size() ? List.of() : List.copyOf(lanes);
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
                receiving.count == 0));
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

    private int through() {
        int room = group.depth() - (reading == receiving ? 0 : reading.count - reading.consumed);
        return Math.min(receiving.count, receiving.consumed + Math.max(reading == receiving ? 1 : 0, room)) - 1;
    }

    private void grant(TrainerLink link) {
        int through = through();
        if (link.span == receiving && link.isLive && through >= 0 && receiving.number(through) > link.granted) {
            link.granted = receiving.number(through);
            link.send(new Grant(link.subscription, link.granted));
        }
    }

    private void grantAll() {
        List.copyOf(links.values()).forEach(this::grant);
    }

    private void batch(TrainerLink link, Batch batch) {
        BatchIdentity id = batch.header().identity();
        String what = this + " got epoch " + id.epoch() + " number " + id.number() + " piece " + id.piece() + " from "
                + link.address;
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
                what + ": the content is not that of " + piece);
        AckEntry entry = AckEntry.of(batch.header());
        if (span.take(index, entry, link)) {
            require(
                    reading.held() + (receiving == reading ? 0 : receiving.held()) <= group.depth() + 1,
                    this + " holds more than it granted");
            goOn();
            pace();
        }
    }

    private TrainerSpan of(long epoch) {
        if (receiving != null && receiving.epoch == epoch) {
            return receiving;
        }
        return reading != null && reading.epoch == epoch ? reading : null;
    }

    private static void require(boolean condition, String violation) {
        if (!condition) {
            throw new AssertionError(violation);
        }
    }

    // ---- the model

    /** Starts to receive the next epoch when the present one has arrived completely. */
    private void goOn() {
        if (receiving == reading
                && receiving.isReceived()
                && group.prefetches()
                && reading.epoch + 1 < group.epochs()) {
            receiving = span(new Position(reading.epoch + 1, 0));
            arrange();
        }
    }

    /** Starts the next step of the model, unless it is working on one. */
    private void pace() {
        if (!steps && !isRead && reading != null) {
            steps = true;
            simulation.after(group.stepNanos(replica), process, "step", () -> {
                steps = false;
                if (!isAbandoned) {
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
        if (reading.complete > reading.consumed) {
            long number = reading.number(reading.consumed);
            inHand = reading.consume();
            group.consumed(this, reading.epoch, number);
            grantAll();
            pace();
        }
    }

    private void acknowledgeInHand() {
        long epoch = reading.epoch;
        for (TrainerSpan.Arrival arrival : inHand) {
            if (arrival.link().isClosed) {
                orphans.add(new TrainerLink.Receipts(epoch, List.of(arrival.entry())));
            } else {
                arrival.link().acknowledge(epoch, arrival.entry());
            }
        }
        if (!inHand.isEmpty()) {
            inHand = List.of();
            flushSoon();
        }
    }

    private void flushSoon() {
        if (!flushing) {
            flushing = true;
            simulation.after(ACK_NANOS, process, "flush", () -> {
                flushing = false;
                links.values().forEach(TrainerLink::flush);
                arrange();
            });
        }
    }

    /** Advances to the next epoch at the end of an epoch. May reach the end of the last epoch. */
    private void skipEmpty() {
        while (reading.consumed == reading.count && !isRead) {
            if (reading.count == 0) {
                arrange();
            }
            links.values().forEach(TrainerLink::flush);
            if (reading.epoch + 1 >= group.epochs()) {
                isRead = true;
                trace("has read everything");
                leaveIfDone();
                return;
            }
            reading = receiving == reading ? span(new Position(reading.epoch + 1, 0)) : receiving;
            receiving = reading;
            arrange();
            grantAll();
        }
    }

    /** Returns whether the feed can end without it. */
    boolean isDone() {
        return hasLeft || (isRead && isConfirmed());
    }

    /** Leaves when all its receipts are durable, including the receipt that it has no batch. */
    private void leaveIfDone() {
        if (isRead && !hasLeft && isConfirmed()) {
            leave("all is durable");
        }
    }

    /** Leaves the connections open while the program does something else. Nobody answers on them. */
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
        TrainerLink link = links.get(address);
        return link != null && link.isSound() ? link : null;
    }

    /** Returns whether the receipts of all consumed batches are durable. */
    boolean isConfirmed() {
        return (!isRead || reading.count > 0 || reading.isTold)
                && inHand.isEmpty()
                && orphans.isEmpty()
                && links.values().stream().allMatch(TrainerLink::isConfirmed);
    }

    void leave(String why) {
        hasLeft = true;
        trace("leaves: " + why);
        List.copyOf(links.values()).forEach(link -> drop(link, true));
    }

    String describe() {
        return "  " + this + ": epoch "
                + (reading == null
                        ? "-"
                        : reading.epoch + ", consumed " + reading.consumed + " of " + reading.count + ", complete "
                                + receiving.complete + " of " + receiving.count)
                + ", links " + links.values() + ", down " + down.keySet() + ", orphans " + orphans.size()
                + (isRead ? ", has read everything" : "") + (hasLeft ? ", has left" : "") + '\n';
    }
}
