package dev.stoker.feeder.plan;

import dev.stoker.flink.failure.Outages;
import dev.stoker.server.FeedNode;
import dev.stoker.server.NodeLease;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.ui.StatusAddress;
import dev.stoker.server.ui.StatusServer;
import java.io.IOException;
import java.net.InetAddress;
import java.util.Optional;

/** Opens what a plan says is to run in this process. */
public final class FeedNodes {
    private FeedNodes() {}

    /**
     * Joins this process's node of the feed, or starts it, together with the page that shows it.
     *
     * @throws IOException if a stream cannot be opened or a port is taken
     */
    public static NodeLease open(FeedPlan plan) throws IOException {
        return open(plan, "");
    }

    /**
     * As {@link #open(FeedPlan)}, on a machine that others know by a name.
     *
     * @param machine what trainers are told where every address is listened on and none is advertised; may be empty
     */
    public static NodeLease open(FeedPlan plan, String machine) throws IOException {
        ServerOptions options = plan.serverOptions();
        boolean everywhere = InetAddress.getByName(options.bind()).isAnyLocalAddress();
        NodeLease lease =
                FeedNode.acquire(plan.spec(), everywhere && !machine.isEmpty() ? options.withHost(machine) : options);
        try {
            Optional<StatusAddress> ui = StatusAddress.parse(plan.ui());
            if (ui.isPresent()) {
                lease.show(
                        status -> new StatusServer(ui.get(), () -> status.get().with(Outages.all())));
            }
            return lease;
        } catch (IOException | RuntimeException e) {
            lease.close();
            throw e;
        }
    }
}
