package dev.stoker.feeder.simulation;

import java.util.List;

/** What goes wrong in a simulation, and when. */
final class Faults {
    /** Nothing new goes wrong after this time, so that a feed can end. */
    private static final long LAST_NANOS = 20 * Simulation.SECOND;

    private final Cluster cluster;
    private final Simulation simulation;

    Faults(Cluster cluster, Simulation simulation) {
        this.cluster = cluster;
        this.simulation = simulation;
    }

    /** Draws the faults of a run: none at all, a few, or many. */
    void schedule() {
        long count = simulation.chance(0.1) ? 0 : simulation.between(1, simulation.chance(0.3) ? 12 : 4);
        long last = simulation.between(Simulation.SECOND, LAST_NANOS);
        for (int i = 0; i < count; i++) {
            int kind = (int) simulation.between(0, 99);
            simulation.fault(simulation.between(0, last), () -> happen(kind));
        }
    }

    private void happen(int kind) {
        if (kind < 22) {
            cutOne();
        } else if (kind < 30) {
            simulation.trace("fault", "all connections are cut");
            List.copyOf(cluster.network().open()).forEach(connection -> connection.cut("cut"));
        } else if (kind < 41) {
            crashMachine();
        } else if (kind < 46) {
            failTask();
        } else if (kind < 53) {
            cluster.crashJobManager();
        } else if (kind < 60) {
            pauseMachine();
        } else if (kind < 64) {
            pause(cluster.jobManager().process);
        } else if (kind < 70) {
            long nanos = simulation.between(500, 6_000) * Simulation.MILLI;
            simulation.trace("fault", "the ledger's store is away for " + nanos / Simulation.MILLI + " ms");
            cluster.ledger().goAway(nanos);
        } else if (kind < 76) {
            new HostileTrainer(cluster, anyMachine().address(), cluster.endsWithoutOthers()).attack(cluster.network());
        } else if (kind < 83) {
            anyGroup().crash(simulation.chance(0.3));
        } else {
            happenToTrainer((int) simulation.between(0, 5));
        }
    }

    private void happenToTrainer(int kind) {
        switch (kind) {
            case 0 -> anyGroup().crashOne(false);
            case 1 -> anyGroup().crashOne(true);
            case 2 -> anyGroup().contest();
            case 3 -> anyGroup().supersede();
            case 4 -> cluster.kill(() -> anyGroup().crashOne(false));
            default -> anyGroup().pauseOne(simulation.between(1_000, 40_000) * Simulation.MILLI);
        }
    }

    private TrainingGroup anyGroup() {
        List<TrainingGroup> groups = cluster.groups();
        return groups.get((int) simulation.between(0, groups.size() - 1));
    }

    private TaskManager anyMachine() {
        List<TaskManager> machines = cluster.allMachines();
        return machines.get((int) simulation.between(0, machines.size() - 1));
    }

    private void cutOne() {
        List<Connection> open = cluster.network().open();
        if (!open.isEmpty()) {
            open.get((int) simulation.between(0, open.size() - 1)).cut("cut");
        }
    }

    private void crashMachine() {
        anyMachine().crash(simulation.between(100, 4_000) * Simulation.MILLI);
    }

    private void failTask() {
        Task task = cluster.jobManager().anyTask();
        if (task != null) {
            simulation.trace("fault", task + " has a fault");
            task.fail();
        }
    }

    private void pauseMachine() {
        pause(anyMachine().process());
    }

    private void pause(SimulatedProcess process) {
        long nanos = simulation.between(100, 8_000) * Simulation.MILLI;
        simulation.trace("fault", process.name() + " stands still for " + nanos / Simulation.MILLI + " ms");
        process.pause(nanos);
    }
}
