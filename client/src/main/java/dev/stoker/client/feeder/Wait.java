package dev.stoker.client.feeder;

import dev.stoker.client.errors.BatchTimeoutException;
import dev.stoker.client.errors.ConnectTimeoutException;
import dev.stoker.client.source.ClientOptions;
import dev.stoker.client.source.Span;
import dev.stoker.client.stats.Waits;
import dev.stoker.client.transport.Target;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One wait of the trainer for a batch: decides whether it has lasted too long. Guarded by the client's lock. */
final class Wait {
    private static final Logger LOG = LoggerFactory.getLogger(Wait.class);
    private static final long NOTICED_NS = 100_000_000;
    /** A wait without any feeder is told after this time: the failure of one feeder is over within a second. */
    private static final long TELL_NS = 5_000_000_000L;

    private final Target target;
    private final Network network;
    private final FrameHandler frameHandler;
    private final ClientOptions options;
    private final long begunNs = System.nanoTime();
    private long lookedAtNs = begunNs;
    private long unconnectedNs;
    private boolean told;
    private String cause;

    /** @param isFirst whether the wait is for the first batch of an epoch */
    Wait(Target target, Network network, FrameHandler frameHandler, ClientOptions options, boolean isFirst) {
        this.target = target;
        this.network = network;
        this.frameHandler = frameHandler;
        this.cause = isFirst ? Waits.START : Waits.FEEDER;
        this.options = options;
    }

    long begunNs() {
        return begunNs;
    }

    /** Returns the cause of the wait, if this side can tell, after a link has ended it. */
    String cause(FeederConnection last) {
        // A feeder that reports its own delays leaves only the network as the cause.
        return cause.equals(Waits.FEEDER) && last.tells ? Waits.NETWORK : cause;
    }

    /**
     * Notes the cause, and throws if the wait takes too long. Time without a connection counts only for the reconnect
     * time-out.
     */
    void judge(Span span, long index) {
        long nowNs = System.nanoTime();
        long elapsedNs = nowNs - lookedAtNs;
        lookedAtNs = nowNs;
        List<Integer> lanes = span.isReady(index) ? List.of() : span.waitingLanes(index);
        if (lanes.isEmpty()) {
            return;
        }
        int lane = lanes.get(0);
        String address = network.pool().lanes().addressOf(lane);
        Optional<PooledFeeder> peer = network.pool().known(address);
        Optional<FeederConnection> connection = peer.flatMap(PooledFeeder::live);
        String what = target + ": epoch " + span.range().epoch() + " batch " + span.number(index);
        if (connection.isEmpty()) {
            if (elapsedNs > NOTICED_NS) {
                cause = Waits.CONNECT;
            }
            unconnectedNs += elapsedNs;
            long sinceNs = Math.max(begunNs, peer.map(p -> p.downSinceNs).orElse(begunNs));
            if (nowNs - sinceNs > options.reconnectTimeout().toNanos()) {
                throw new ConnectTimeoutException(what + " is in lane " + lane
                        + ", but no feeder could be reached for " + seconds(nowNs - sinceNs) + ": "
                        + network.pool().describe());
            }
            if (!told && nowNs - sinceNs > TELL_NS) {
                told = true;
                LOG.warn(
                        "{}: no feeder can be reached for {}; waiting up to {} for it (reconnectTimeout): {}",
                        target,
                        seconds(nowNs - sinceNs),
                        seconds(options.reconnectTimeout().toNanos()),
                        network.pool().describe());
            }
        } else if (nowNs - begunNs - unconnectedNs > options.batchTimeout().toNanos()) {
            String said = peer.filter(p -> !p.error.isEmpty())
                    .map(p -> "; before that: " + p.error)
                    .orElse("");
            throw new BatchTimeoutException(what + " did not arrive from feeder " + address + ", lane " + lane
                    + ", within "
                    + seconds(nowNs - begunNs) + " (last message "
                    + seconds(network.quietNs(connection.get(), nowNs)) + " ago" + said
                    + "); see the feeder's log, or raise batchTimeout");
        } else if (cause.equals(Waits.FEEDER) && frameHandler.batches().isRefused(span, index)) {
            cause = Waits.CORRUPT;
        }
    }

    private static String seconds(long ns) {
        long tenths = ns / 100_000_000;
        return tenths / 10.0 + " s";
    }
}
