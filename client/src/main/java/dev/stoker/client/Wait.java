package dev.stoker.client;

import java.util.List;
import java.util.Optional;

/** One wait of the trainer for a batch: judges whether it has lasted too long. Under the client's lock. */
final class Wait {
    private static final long NOTICED_NS = 100_000_000;

    private final Target target;
    private final Network network;
    private final Inbox inbox;
    private final FeedOptions options;
    private final long begunNs = System.nanoTime();
    private long lookedAtNs = begunNs;
    private long unconnectedNs;
    private String cause;

    /** @param isFirst whether it is for the first batch of an epoch, of which nothing has come yet */
    Wait(Target target, Network network, Inbox inbox, FeedOptions options, boolean isFirst) {
        this.target = target;
        this.network = network;
        this.inbox = inbox;
        this.cause = isFirst ? Waits.START : Waits.FEEDER;
        this.options = options;
    }

    long begunNs() {
        return begunNs;
    }

    /** What it was for, as far as this side can tell once it ended with something from a link. */
    String cause(Link last) {
        // A feeder that says what a piece cost it leaves the rest to the way.
        return cause.equals(Waits.FEEDER) && last.tells ? Waits.NETWORK : cause;
    }

    /** Notes the cause. Throws if it takes too long. The time without a connection counts for the reconnect time-out only. */
    void judge(Span span, long index) {
        long nowNs = System.nanoTime();
        long elapsedNs = nowNs - lookedAtNs;
        lookedAtNs = nowNs;
        List<Integer> lanes = span.isReady(index) ? List.of() : span.waitingLanes(index);
        if (lanes.isEmpty()) {
            return;
        }
        int lane = lanes.get(0);
        String address = network.peers().addressOf(lane);
        Optional<Peer> peer = network.peers().known(address);
        Optional<Link> link = peer.flatMap(Peer::live);
        String what = target + ": epoch " + span.range().epoch() + " batch " + span.number(index);
        if (link.isEmpty()) {
            if (elapsedNs > NOTICED_NS) {
                cause = Waits.CONNECT;
            }
            unconnectedNs += elapsedNs;
            long sinceNs = Math.max(begunNs, peer.map(p -> p.downSinceNs).orElse(begunNs));
            if (nowNs - sinceNs > options.reconnectTimeout().toNanos()) {
                throw new ConnectTimeoutException(what + " lies in lane " + lane
                        + ", and no feeder could be reached for " + seconds(nowNs - sinceNs) + ": "
                        + network.peers().describe());
            }
        } else if (nowNs - begunNs - unconnectedNs > options.batchTimeout().toNanos()) {
            String said = peer.filter(p -> !p.error.isEmpty())
                    .map(p -> "; before that: " + p.error)
                    .orElse("");
            throw new BatchTimeoutException(what + " did not come from feeder " + address + ", lane " + lane + ", in "
                    + seconds(nowNs - begunNs) + " (last heard of "
                    + seconds(network.quietNs(link.get(), nowNs)) + " ago" + said
                    + "); see the feeder's log, or raise batchTimeout");
        } else if (cause.equals(Waits.FEEDER) && inbox.isRefused(span, index)) {
            cause = Waits.CORRUPT;
        }
    }

    private static String seconds(long ns) {
        return ns / 100_000_000 / 10.0 + " s";
    }
}
