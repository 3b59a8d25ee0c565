package dev.stoker.feeder.simulation;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.feeder.source.reader.StopSignal;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.server.TestDataset;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

/**
 * A whole feed under simulation: machines, JobManager, ledger, groups of trainers, and their faults. The seed
 * determines everything.
 */
final class Cluster {
    /** Every feed has ended by this time, whatever happened to it. */
    private static final long LIMIT_NANOS = 1_200 * Simulation.SECOND;
    /** The feed ends within this time after all trainers have left. */
    private static final long END_NANOS = 120 * Simulation.SECOND;
    /** The feed is expected to know a group that has trained for this time. */
    private static final long KNOWN_NANOS = 2 * Simulation.SECOND;

    /** Maximum number of ranks of a group. */
    static final int MOST_RANKS = 3;

    private final Simulation simulation;
    private final Network network;
    private final SimulatedStore ledger;
    private final FeedPlan plan;
    private final List<TestDataset> datasets = new ArrayList<>();
    private final List<TaskManager> machines = new ArrayList<>();
    private final List<TrainingGroup> groups = new ArrayList<>();
    private final JobManager.Storage storage = new JobManager.Storage();
    private final int parallelism;
    private final long intervalNanos;
    private final double aborts;
    private final Set<String> addresses = new TreeSet<>();
    private JobManager jobManager;
    private int jobManagers;
    private long leftNanos = -1;
    /** Whether the feed's file exists, which outlives a JobManager. */
    private boolean wasPublished;
    /** When the enumerator told readers to end; negative before. */
    private long endNanos = -1;

    private String failed = "";

    Cluster(Worlds worlds, long seed, boolean isLoud) {
        this.simulation = new Simulation(seed, isLoud);
        long delay = simulation.between(1, 200) * Simulation.MILLI;
        this.network = new Network(simulation, delay, 1 << simulation.between(10, 16));
        this.ledger = new SimulatedStore(
                simulation, simulation.between(5, 500) * Simulation.MILLI, simulation.chance(0.5) ? 0 : 0.2);
        this.intervalNanos = simulation.between(200, 2_000) * Simulation.MILLI;
        this.aborts = simulation.chance(0.5) ? 0 : 0.2;
        OrderSpec order = worlds.order(simulation);
        int streams = simulation.chance(0.3) ? 2 : 1;
        List<FeedPlan.Stream> served = new ArrayList<>();
        List<Oracle> oracles = new ArrayList<>();
        for (int i = 0; i < streams; i++) {
            TestDataset dataset = worlds.dataset(simulation);
            Oracle oracle = worlds.oracle(dataset, order);
            datasets.add(dataset);
            oracles.add(oracle);
            served.add(new FeedPlan.Stream(
                    i == 0 ? "train" : "val",
                    dataset.path().toString(),
                    dataset.id(),
                    dataset.version(),
                    "train",
                    oracle.lanes(),
                    false));
        }
        List<GroupShape> shapes = shapes(served);
        // No feed waits for a group whose epochs are too short for a step: the group may have left before the feed
        // could note it.
        boolean declares = simulation.chance(0.4)
                && (shapes.stream().noneMatch(shape -> shape.tail() == TailPolicy.DROP)
                        || oracles.stream()
                                .allMatch(oracle ->
                                        oracle.size().wholeBatches() >= MOST_RANKS + GroupBatches.MOST_SKIPPED));
        this.plan = new FeedPlan(
                "simulated",
                new UUID(0x5EED, seed),
                served,
                order.toJson(),
                declares
                        ? shapes.stream()
                                .map(shape -> new FeedPlan.Group(shape.stream(), shape.name()))
                                .toList()
                        : List.of(),
                simulation.between(1, 3),
                OnCorrupt.FAIL,
                "unused",
                0,
                new FeedPlan.Server(
                        "127.0.0.1",
                        "0",
                        null,
                        new FeedPlan.Security(null, null, null, null, false),
                        100,
                        0,
                        new FeedPlan.Tiers(List.of(), CacheLifetime.FEED, CacheAccess.USER, false, 0, 1)),
                "off",
                new FeedPlan.Work(1000, 0));
        int machineCount = (int) simulation.between(1, 3);
        ServerOptions options = options();
        for (int i = 0; i < machineCount; i++) {
            String address = "10.0.0." + (i + 1) + ":742" + i;
            machines.add(new TaskManager(this, address, plan, options));
            addresses.add(address);
        }
        int lanes = oracles.stream().mapToInt(Oracle::lanes).sum();
        this.parallelism =
                (int) Math.min(lanes, simulation.between(1, machineCount + (simulation.chance(0.2) ? 1 : 0)));
        for (GroupShape shape : shapes) {
            groups.add(new TrainingGroup(this, shape, oracles.get(shape.stream().equals("train") ? 0 : 1)));
        }
    }

    private ServerOptions options() {
        ServerOptions defaults = ServerOptions.defaults().withPorts(PortRange.ANY);
        int pending = simulation.chance(0.2) ? (int) simulation.between(800, 4_000) : defaults.maxPendingReceipts();
        return new ServerOptions(
                defaults.bind(),
                defaults.ports(),
                defaults.advertised(),
                defaults.access(),
                defaults.maxSessions(),
                defaults.workingMemoryBytes(),
                defaults.maxMappings(),
                pending,
                defaults.tiers(),
                defaults.linger());
    }

    private List<GroupShape> shapes(List<FeedPlan.Stream> streams) {
        List<GroupShape> shapes = new ArrayList<>();
        int count = (int) simulation.between(streams.size(), 3);
        for (int i = 0; i < count; i++) {
            FeedPlan.Stream stream = streams.get(i % streams.size());
            int world = simulation.chance(0.5) ? 1 : (int) simulation.between(2, MOST_RANKS);
            int workers = simulation.chance(0.7) ? 1 : 2;
            int replicas = simulation.chance(0.7) ? 1 : (int) simulation.between(2, 3);
            // Long steps leave pauses without any traffic.
            long longest = simulation.chance(0.1) ? 5_000 : simulation.chance(0.5) ? 20 : 250;
            shapes.add(new GroupShape(
                    stream.name(),
                    "group" + i,
                    world,
                    workers,
                    replicas,
                    TailPolicy.values()[(int) simulation.between(0, TailPolicy.values().length - 1)],
                    (int) simulation.between(2, 6),
                    simulation.chance(0.5),
                    simulation.between(2, longest) * Simulation.MILLI,
                    longest > 1_000 || simulation.chance(0.5) ? 0 : 5,
                    simulation.chance(world * workers * replicas > 1 ? 0.7 : 0.5),
                    simulation.chance(0.3)));
        }
        return shapes;
    }

    // ---- what the parts ask for

    Simulation simulation() {
        return simulation;
    }

    Network network() {
        return network;
    }

    SimulatedStore ledger() {
        return ledger;
    }

    long epochs() {
        return plan.epochs();
    }

    Set<String> addresses() {
        return addresses;
    }

    List<TaskManager> machines() {
        return machines.stream().filter(machine -> machine.process().isAlive()).toList();
    }

    void published(List<String> servers) {
        wasPublished = true;
        simulation.trace("feed file", "names " + servers);
    }

    boolean wasPublished() {
        return wasPublished;
    }

    /** Notes that the enumerator told readers to end. From then on, no trainer may need the feed. */
    void feedEnds() {
        if (endNanos < 0) {
            endNanos = simulation.nowNanos();
            for (TrainingGroup group : groups) {
                if (!group.isRead() && isKnown(group)) {
                    simulation.fail(new AssertionError(
                            "the feed ends although group " + group.name() + " is still reading\n" + group.describe()));
                }
            }
        }
    }

    /**
     * Returns whether the feed must serve the group to its end: the group is declared, or began before others had
     * finished. A declaration does not include replicas, nor a launch that the feed has not heard of when an earlier
     * one finishes.
     */
    private boolean isKnown(TrainingGroup group) {
        boolean isDeclared = !plan.groups().isEmpty() && group.replicas() == 1;
        return group.hasBatches()
                && !group.isFinishedByEarlierLaunch()
                && (isDeclared || group.beganBefore(endNanos - KNOWN_NANOS));
    }

    void jobFinished() {
        simulation.trace("job", "has finished");
        machines.forEach(TaskManager::end);
    }

    // ---- the run

    /** Runs the simulation to its end and checks everything. */
    void run() throws IOException {
        try {
            startJobManager();
            long start = 0;
            for (TrainingGroup group : groups) {
                simulation.after(start, null, "launch", group::launch);
                start += simulation.chance(0.5) ? 0 : simulation.between(0, 3_000) * Simulation.MILLI;
                saveNowAndThen(group);
            }
            new Faults(this, simulation).schedule();
            watch();
            boolean ended = simulation.run(LIMIT_NANOS, () -> storage.isFinished);
            if (!ended) {
                throw new AssertionError("the feed never ends");
            }
            // All trainers read the farewells.
            simulation.run(simulation.nowNanos() + 5 * Simulation.SECOND, () -> false);
            judge();
        } finally {
            close();
        }
    }

    private void startJobManager() {
        jobManager = new JobManager(this, "jm." + ++jobManagers, plan, parallelism, intervalNanos, aborts, storage);
    }

    private void saveNowAndThen(TrainingGroup group) {
        simulation.after(simulation.between(100, 2_000) * Simulation.MILLI, null, "save", () -> {
            group.save();
            saveNowAndThen(group);
        });
    }

    private void watch() {
        simulation.after(Simulation.SECOND, null, "watch", () -> {
            machines.forEach(TaskManager::requireBounded);
            if (leftNanos < 0 && groups.stream().allMatch(TrainingGroup::hasLeft)) {
                leftNanos = simulation.nowNanos();
            }
            if (leftNanos >= 0 && !storage.isFinished && simulation.nowNanos() - leftNanos > END_NANOS) {
                throw new AssertionError("the feed does not end although all trainers have read everything and left");
            }
            watch();
        });
    }

    private void judge() throws IOException {
        List<TrainingGroup> known = groups.stream().filter(this::isKnown).toList();
        new LedgerCheck(plan, datasets, ledger, groups).requireComplete(known);
    }

    private void close() {
        failed = describe();
        try {
            simulation.close();
        } finally {
            machines.forEach(TaskManager::forget);
            StopSignal.clear(plan.id());
        }
    }

    /** Returns the state at the end, for the report of a failure. */
    String failed() {
        return failed;
    }

    private String describe() {
        StringBuilder text = new StringBuilder();
        text.append("feed of ").append(plan.epochs()).append(" epochs, order ").append(plan.order());
        text.append(", ")
                .append(parallelism)
                .append(" tasks, waits for ")
                .append(plan.groups().isEmpty() ? "any group" : plan.groups());
        text.append('\n');
        machines.forEach(machine -> text.append(machine.describe()));
        groups.forEach(group -> text.append(group.describe()));
        text.append(jobManager.describe());
        return text.append(simulation.describe()).toString();
    }

    // ---- faults

    /** Returns whether the feed ends although an undeclared group has subscribed. */
    boolean endsWithoutOthers() {
        return !plan.groups().isEmpty();
    }

    boolean isEnding() {
        return endNanos >= 0;
    }

    List<TaskManager> allMachines() {
        return machines;
    }

    List<TrainingGroup> groups() {
        return groups;
    }

    JobManager jobManager() {
        return jobManager;
    }

    /**
     * Forgets groups if a process dies and no other process had its state: the feed can only know trainers that connect
     * later.
     */
    void forgetUnlessChecked() {
        if (!storage.hasCheckpoint()) {
            groups.forEach(TrainingGroup::forget);
        }
    }

    /**
     * Kills the whole feed, which the user starts again without its state. Trainers that have read everything would not
     * return, so the new feed would wait for them.
     *
     * @param before what else happens at this time, if the feed is killed
     */
    void kill(Runnable before) {
        if (!storage.isFinished && !jobManager.isEnding() && groups.stream().noneMatch(TrainingGroup::hasReader)) {
            simulation.trace("feed", "is killed and loses its state");
            before.run();
            storage.lose();
            machines.forEach(machine -> machine.crash(simulation.between(100, 2_000) * Simulation.MILLI));
            crashJobManager();
        }
    }

    /** Stops the JobManager. Another one takes over, and the tasks of the first one are cancelled. */
    void crashJobManager() {
        if (storage.isFinished || jobManager.isEnding() || !jobManager.process.isAlive()) {
            return;
        }
        simulation.trace(jobManager.process.name(), "is killed");
        forgetUnlessChecked();
        JobManager gone = jobManager;
        gone.process.kill();
        simulation.after(simulation.between(0, 1_000) * Simulation.MILLI, null, "cancel", gone::cancelAll);
        simulation.after(simulation.between(100, 3_000) * Simulation.MILLI, null, "take over", this::startJobManager);
    }
}
