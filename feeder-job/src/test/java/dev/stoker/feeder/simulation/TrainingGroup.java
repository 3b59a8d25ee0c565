package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.protocol.parts.Instance;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The trainers of one group: all ranks, loader workers and replicas of a launch. After a crash they resume from their
 * last model checkpoint. {@link LearnedBatches} holds what their model has learned.
 */
final class TrainingGroup {
    private final Cluster cluster;
    private final GroupShape shape;
    private final Oracle oracle;
    private final GroupBatches batches;
    private final LearnedBatches learned = new LearnedBatches();
    private final List<Trainer> trainers = new ArrayList<>();
    private int worldSize;
    private Position checkpoint = Position.START;
    private long run;
    private boolean isStarted;
    /** Whether a trainer has resumed at a position, which asserts what is before it. */
    private boolean hasResumed;

    private int launches;
    /** Whether several processes have asked for the same place. */
    private boolean isContested;
    /** Trainers of earlier launches that were not ended. */
    private final List<Trainer> superseded = new ArrayList<>();
    /** The greatest number of ranks of any launch. */
    private int mostRanks;
    /** When the first batch of each replica was consumed. */
    private final Map<Integer, Long> firstNanos = new TreeMap<>();

    TrainingGroup(Cluster cluster, GroupShape shape, Oracle oracle) {
        this.cluster = cluster;
        this.shape = shape;
        this.oracle = oracle;
        this.batches = GroupBatches.of(shape, oracle.size(), cluster);
        this.worldSize = shape.worldSize();
        this.mostRanks = worldSize;
    }

    /** Starts all trainers from the last model checkpoint. Trainers of an earlier launch must have died. */
    void launch() {
        isStarted = true;
        launches++;
        isContested |= launches > 1 && !shape.hasRuns();
        mostRanks = Math.max(mostRanks, worldSize);
        trainers.forEach(trainer -> trainer.process.kill());
        trainers.clear();
        run = Math.max(run + 1, cluster.simulation().nowMs());
        learned.rollBack(checkpoint);
        cluster.simulation()
                .trace(
                        name(),
                        "launches " + worldSize + " ranks, " + shape.workers() + " workers, " + shape.replicas()
                                + " replicas at " + checkpoint + " in run " + run);
        for (int replica = 0; replica < shape.replicas(); replica++) {
            for (int rank = 0; rank < worldSize; rank++) {
                for (int worker = 0; worker < shape.workers(); worker++) {
                    add(
                            new Participant(rank, worldSize, worker, shape.workers()),
                            replica,
                            shape.runsOfLaunch(run),
                            checkpoint,
                            Trainer.newInstance(cluster.simulation()));
                }
            }
        }
    }

    private void add(Participant participant, int replica, Trainer.Runs runs, Position from, Instance instance) {
        Trainer trainer = new Trainer(this, participant, replica, runs, from, instance);
        trainers.add(trainer);
        cluster.simulation()
                .after(
                        cluster.simulation().between(0, 50) * Simulation.MILLI,
                        trainer.process,
                        "start",
                        trainer::start);
    }

    /** Saves the model: everything that all trainers have consumed. */
    void save() {
        if (isWhole() && trainers.stream().allMatch(trainer -> trainer.process.isAlive())) {
            Position least = null;
            for (Trainer trainer : trainers) {
                Position next = trainer.reading.next();
                if (least == null
                        || next.epoch() < least.epoch()
                        || (next.epoch() == least.epoch() && next.batch() < least.batch())) {
                    least = next;
                }
            }
            checkpoint = least;
        }
    }

    /** Ends all trainers. They restart after some time, perhaps with another world size. */
    void crash(boolean mayRescale) {
        if (!isStarted || isRead() || isAtEnd() || cluster.isEnding()) {
            return;
        }
        cluster.simulation().trace(name(), "all trainers crash");
        hasResumed = true;
        trainers.forEach(trainer -> trainer.process.kill());
        trainers.clear();
        launches++;
        if (mayRescale && shape.hasRuns()) {
            worldSize = (int) cluster.simulation().between(1, Cluster.MOST_RANKS);
        }
        int ofCrash = launches;
        cluster.simulation().after(cluster.simulation().between(10, 2_000) * Simulation.MILLI, null, "launch", () -> {
            // Another crash may have happened meanwhile.
            if (launches == ofCrash) {
                launch();
            }
        });
    }

    /** Returns whether the model has learned everything, so that a new launch would request nothing. */
    private boolean isAtEnd() {
        return checkpoint.epoch() >= epochs();
    }

    /** Starts a greater run while the trainers of the previous one live. The previous trainers must stop. */
    void supersede() {
        if (!shape.hasRuns() || trainers.isEmpty() || isRead() || isAtEnd() || cluster.isEnding()) {
            return;
        }
        cluster.simulation().trace(name(), "is launched again beside its trainers");
        hasResumed = true;
        for (Trainer trainer : trainers) {
            trainer.supersede();
            superseded.add(trainer);
        }
        trainers.clear();
        List<Trainer> old = List.copyOf(superseded);
        launch();
        // A launcher would finally end them.
        cluster.simulation()
                .after(30 * Simulation.SECOND, null, "end", () -> old.forEach(trainer -> trainer.process.kill()));
    }

    /** Starts another process that asks for the place of a trainer. */
    void contest() {
        Trainer holder = any();
        if (holder != null) {
            isContested = true;
            addresses().forEach(address -> new Newcomer(this, holder, address).come());
        }
    }

    /** Pauses a trainer, as a debugger does. No feeder may treat it as dead. */
    void pauseOne(long nanos) {
        Trainer trainer = any();
        if (trainer != null) {
            cluster.simulation().trace(trainer.toString(), "stands still for " + nanos / Simulation.MILLI + " ms");
            trainer.process.pause(nanos);
        }
    }

    private Trainer any() {
        Trainer trainer = trainers.isEmpty()
                ? null
                : trainers.get((int) cluster.simulation().between(0, trainers.size() - 1));
        return trainer == null || !trainer.process.isAlive() ? null : trainer;
    }

    /**
     * Ends one trainer, which restarts. Without a run of its launcher it joins the run of the others, or begins a run
     * if the feeder does not know them.
     *
     * @param keepsProcess whether only its program restarts, in a process whose connections stay open
     */
    void crashOne(boolean keepsProcess) {
        if (trainers.isEmpty() || isAtEnd() || cluster.isEnding()) {
            return;
        }
        Trainer victim = any();
        // Within one run, only the trainer itself reports what it has consumed.
        if (victim == null || victim.isRead() || !victim.isConfirmed() || !sharesNumbers(victim)) {
            return;
        }
        cluster.simulation()
                .trace(name(), victim + (keepsProcess ? " begins again" : " crashes, to resume") + " at " + checkpoint);
        hasResumed = true;
        Instance instance;
        if (keepsProcess) {
            instance = victim.instance();
            victim.abandon();
        } else {
            instance = Trainer.newInstance(cluster.simulation());
            isContested = true;
            victim.process.kill();
        }
        trainers.remove(victim);
        learned.rollBack(checkpoint, victim, worldSize);
        Position from = checkpoint;
        int ofLaunch = launches;
        cluster.simulation().after(cluster.simulation().between(10, 1_000) * Simulation.MILLI, null, "restart", () -> {
            // Another launch may have begun meanwhile.
            if (launches == ofLaunch) {
                add(victim.participant, victim.replica, shape.runsOfRestart(victim.run()), from, instance);
            }
        });
    }

    /**
     * Returns whether a worker that begins at the checkpoint reads the same numbers as before. Otherwise its loader
     * restarts all workers.
     */
    private boolean sharesNumbers(Trainer worker) {
        Position begin = worker.reading.begin();
        long first = begin.epoch() == checkpoint.epoch() ? begin.batch() : 0;
        return (checkpoint.batch() - first) % ((long) worldSize * shape.workers()) == 0;
    }

    // ---- what trainers tell

    void consumed(Trainer trainer, long epoch, long number) {
        cluster.simulation().trace(trainer.toString(), "consumes epoch " + epoch + " number " + number);
        if (superseded.contains(trainer)) {
            return;
        }
        firstNanos.putIfAbsent(trainer.replica, cluster.simulation().nowNanos());
        learned.add(trainer, epoch, number);
    }

    void requireWritten(Trainer trainer, TrainerLink.Receipts receipts) {
        receipts.entries().forEach(entry -> {
            if (!cluster.ledger().has(name(), shape.stream(), trainer.replica, receipts.epoch(), entry)) {
                throw new AssertionError("the receipt " + entry + " of " + trainer + ", epoch " + receipts.epoch()
                        + ", was called durable, but the ledger does not have it");
            }
        });
    }

    // ---- judgement

    /** Forgets which trainers have read, because the feed restarts without a state and cannot know it. */
    void forget() {
        firstNanos.clear();
    }

    /** Returns whether all of its replicas began to read before this time. */
    boolean beganBefore(long nanos) {
        return firstNanos.size() == shape.replicas()
                && firstNanos.values().stream().allMatch(first -> first < nanos);
    }

    /** Returns whether all trainers of the newest launch have read everything. */
    boolean isRead() {
        return isWhole() && trainers.stream().allMatch(Trainer::isRead);
    }

    /** Returns whether any trainer has read everything. */
    boolean hasReader() {
        return trainers.stream().anyMatch(Trainer::isRead);
    }

    /** Returns whether an earlier launch has read everything, and no trainer of the newest one was ever admitted. */
    boolean isFinishedByEarlierLaunch() {
        return superseded.stream()
                        .collect(Collectors.groupingBy(
                                Trainer::run, Collectors.reducing(true, Trainer::isRead, Boolean::logicalAnd)))
                        .containsValue(true)
                && trainers.stream().noneMatch(Trainer::hasJoined);
    }

    /** Returns whether every trainer of the launch is present. */
    private boolean isWhole() {
        return isStarted && trainers.size() == (long) worldSize * shape.workers() * shape.replicas();
    }

    boolean hasLeft() {
        return isRead() && trainers.stream().allMatch(Trainer::isDone);
    }

    boolean hasResumed() {
        return hasResumed;
    }

    /** Fails unless each replica has learned each batch of each epoch once. */
    void requireComplete() {
        // Batches that do not fill a step of all ranks are left out under "drop".
        long least = batches.slots().batches() - (tail() == TailPolicy.DROP ? mostRanks - 1 : 0);
        learned.requireComplete(shape.replicas(), epochs(), least, "group " + name() + " of stream " + shape.stream());
    }

    String describe() {
        StringBuilder text =
                new StringBuilder("group " + shape + ", " + worldSize + " ranks, checkpoint " + checkpoint + '\n');
        trainers.forEach(
                trainer -> text.append(trainer.process.isAlive() ? trainer.describe() : "  " + trainer + ": dead\n"));
        return text.toString();
    }

    // ---- for its trainers

    String name() {
        return shape.name();
    }

    String stream() {
        return shape.stream();
    }

    int replicas() {
        return shape.replicas();
    }

    Network network() {
        return cluster.network();
    }

    Oracle oracle() {
        return oracle;
    }

    GroupBatches batches() {
        return batches;
    }

    TailPolicy tail() {
        return shape.tail();
    }

    int depth() {
        return shape.depth();
    }

    /** Returns whether a process other than the trainer may hold its place. */
    boolean isContested() {
        return isContested;
    }

    /** Returns whether any trainer has a batch: under "drop", an epoch may be too short for a step of all ranks. */
    boolean hasBatches() {
        return tail() != TailPolicy.DROP || batches.slots().batches() >= mostRanks;
    }

    boolean prefetches() {
        return shape.prefetches();
    }

    long epochs() {
        return cluster.epochs();
    }

    Set<String> addresses() {
        return cluster.addresses();
    }

    /** Returns the time of a step, which differs between replicas as it does between machines. */
    long stepNanos(int replica) {
        long longest = shape.stepNanos() * (1 + replica * shape.slowness());
        return cluster.simulation().between(longest / 10, longest);
    }
}
