package dev.stoker.feeder.simulation;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.server.NodeLease;
import dev.stoker.server.SimulatedNode;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.window.ServedStream;
import java.io.IOException;
import java.util.List;

/** A machine with a TaskManager on it, which may die and come back. Its process hosts one node of the feed. */
final class TaskManager {
    private static final long LINGER_NANOS = 30 * Simulation.SECOND;

    private final Cluster cluster;
    private final String address;
    private final FeedPlan plan;
    private final ServerOptions options;
    private SimulatedProcess process;
    private FeedServer server;
    private SimulatedNode node;
    private ChunkSources chunks;
    private int leases;
    private int incarnations;

    TaskManager(Cluster cluster, String address, FeedPlan plan, ServerOptions options) {
        this.cluster = cluster;
        this.address = address;
        this.plan = plan;
        this.options = options;
        start();
    }

    private void start() {
        process = new SimulatedProcess(
                cluster.simulation(), "tm" + address.charAt(address.length() - 1) + "." + ++incarnations);
    }

    SimulatedProcess process() {
        return process;
    }

    String address() {
        return address;
    }

    /** Kills the process; another one takes its place after a while. */
    void crash(long awayNanos) {
        if (!process.isAlive()) {
            return;
        }
        cluster.simulation().trace(process.name(), "is killed");
        if (!cluster.jobManager().process.isAlive()) {
            cluster.forgetUnlessChecked();
        }
        process.kill();
        forget();
        cluster.simulation().after(awayNanos, null, "new TaskManager", () -> {
            start();
            cluster.simulation().trace(process.name(), "takes the place of one that died");
        });
    }

    /** Gives back what the operating system would. */
    void forget() {
        cluster.network().unlisten(address, process);
        if (chunks != null) {
            chunks.close();
            chunks = null;
        }
        server = null;
        node = null;
        leases = 0;
    }

    /** Joins the process's node, or starts it. On the thread of a task. */
    NodeLease lease() throws IOException {
        if (server == null) {
            FeedServer.Streams streams = SimulatedNode.streams(plan.spec());
            server = SimulatedListener.serve(
                    plan.spec(),
                    options,
                    new FeedServer.Streams() {
                        @Override
                        public List<ServedStream> open(ChunkSources sources) throws IOException {
                            chunks = sources;
                            return streams.open(sources);
                        }
                    },
                    process,
                    address,
                    accept -> cluster.network().listen(address, process, accept::accept));
            node = new SimulatedNode(plan.id(), options, server);
            cluster.simulation().trace(process.name(), "serves at " + address);
        }
        leases++;
        return node.lease();
    }

    /** A task has closed its lease. */
    void released() {
        if (process.isAlive() && --leases == 0) {
            FeedServer idle = server;
            cluster.simulation().after(LINGER_NANOS, process, "linger", () -> {
                if (leases == 0 && server == idle) {
                    end();
                }
            });
        }
    }

    /** Ends the node in good order. */
    void end() {
        FeedServer ending = server;
        if (ending != null && process.isAlive()) {
            cluster.network().unlisten(address, process);
            server = null;
            node = null;
            chunks = null;
            process.start("end", ending::close);
        }
    }

    /** Fails if the node holds more than it may. */
    void requireBounded() {
        if (server != null && process.isAlive() && server.acks().pending() > options.maxPendingReceipts()) {
            throw new AssertionError(process.name() + " holds " + server.acks().pending() + " receipts");
        }
    }

    String describe() {
        return process.name()
                + (process.isAlive() ? "" : " (dead)")
                + (server == null ? "" : ", pending receipts " + server.acks().pending())
                + (process.pausedUntilNanos() > cluster.simulation().nowNanos() ? ", paused" : "")
                + '\n';
    }
}
