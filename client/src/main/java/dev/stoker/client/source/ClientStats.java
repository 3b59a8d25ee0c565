package dev.stoker.client.source;

import dev.stoker.client.stats.FeedStats;
import dev.stoker.client.stats.Waits;
import dev.stoker.schemas.protocol.BatchIdentity;
import dev.stoker.schemas.protocol.Delay;
import dev.stoker.schemas.protocol.Stats;
import dev.stoker.schemas.protocol.Welcome;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** What a client has handed out, and how long its trainer waited. Guarded by the client's lock. */
public final class ClientStats {
    private final String feed;
    private final ClientOptions options;
    private final Waits waits = new Waits();
    private long batches;
    private long samples;
    private long waitNs;
    private Optional<Long> beganNs = Optional.empty();
    private Optional<Long> endedNs = Optional.empty();

    /** The counts of a source. */
    public record Received(
            long bytes,
            long localReadBytes,
            int connections,
            int unixConnections,
            int reconnects,
            int failovers,
            long corruptPieces,
            long duplicatePieces) {}

    /** @param feed the feed as the user named it */
    public ClientStats(String feed, ClientOptions options) {
        this.feed = feed;
        this.options = options;
    }

    /** Notes a request for a batch. */
    public void begin() {
        if (beganNs.isEmpty()) {
            beganNs = Optional.of(System.nanoTime());
        }
    }

    /** Notes that the client is closed. */
    public void end() {
        endedNs = Optional.of(System.nanoTime());
    }

    public void handedOut(int rows) {
        batches++;
        samples += rows;
    }

    /** Notes the end of a wait that ended with a piece. */
    public void waited(String cause, ReceivedPiece last, long ns) {
        BatchIdentity identity = last.header().identity();
        waits.add(cause, last.from(), (int) identity.lane(), name(identity), ns);
    }

    /** Notes the end of a wait, whatever ended it. */
    public void spent(long ns) {
        waitNs += ns;
    }

    /** Notes the feeder's time for a piece. */
    public void explain(Delay delay) {
        waits.explain(delay);
    }

    /** Notes the time that a disk of this machine took for a piece that was read locally. */
    public void readFromDisk(BatchIdentity piece, long ns) {
        waits.readFromDisk(name(piece), ns);
    }

    private static Waits.Name name(BatchIdentity identity) {
        return new Waits.Name(identity.epoch(), identity.number());
    }

    public FeedStats stats(Received received) {
        return new FeedStats(
                batches,
                samples,
                received.bytes,
                received.localReadBytes,
                Duration.ofNanos(elapsedNs()),
                Duration.ofNanos(waitNs),
                waits.causes(),
                waits.stalls(),
                received.connections,
                received.unixConnections,
                received.reconnects,
                received.failovers,
                received.corruptPieces,
                received.duplicatePieces);
    }

    private long elapsedNs() {
        return beganNs.isEmpty() ? 0 : endedNs.orElseGet(System::nanoTime) - beganNs.get();
    }

    /**
     * The same numbers, as they are reported to feeders.
     *
     * @param presentNs how long the present wait of the trainer has lasted
     */
    public Stats frame(long bytes, long presentNs) {
        Map<String, Long> causes = new LinkedHashMap<>();
        waits.causes().forEach((cause, waited) -> causes.put(cause, micros(waited)));
        long present = TimeUnit.NANOSECONDS.toMicros(presentNs);
        long waited = causes.values().stream().mapToLong(Long::longValue).sum() + present;
        List<Stats.Wait> longest = waits.stalls().stream()
                .limit(Stats.MAX_WAITS)
                .map(stall -> new Stats.Wait(
                        stall.feeder(), stall.lane(), stall.cause(), micros(stall.waited()), stall.times()))
                .toList();
        return new Stats(TimeUnit.NANOSECONDS.toMicros(elapsedNs()), waited, batches, samples, bytes, causes, longest);
    }

    private static long micros(Duration duration) {
        return TimeUnit.NANOSECONDS.toMicros(duration.toNanos());
    }

    /** The labels: feed, stream and reader. */
    public Map<String, String> labels(Welcome welcome) {
        Welcome.StreamName stream = welcome.stream();
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("feed", feed);
        labels.put("group", options.group());
        labels.put("stream", stream.name());
        labels.put("dataset", stream.datasetName());
        labels.put("version", Long.toString(stream.version()));
        labels.put("rank", Integer.toString(options.participant().rank()));
        labels.put("world_size", Integer.toString(options.participant().worldSize()));
        labels.put("worker", Integer.toString(options.participant().worker()));
        labels.put("replica", Integer.toString(options.replica()));
        return labels;
    }
}
