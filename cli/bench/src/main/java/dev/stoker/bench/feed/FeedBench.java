package dev.stoker.bench.feed;

import dev.stoker.bench.demand.DemandBatches;
import dev.stoker.bench.demand.FedBatches;
import dev.stoker.bench.measure.Machine;
import dev.stoker.bench.measure.Progress;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.client.StreamInfo;
import dev.stoker.client.stats.FeedStats;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Measures one feed beside its ceilings. Each round measures all systems one after the other. This process is the
 * consumer. For one thread.
 */
public final class FeedBench {

    /** Opens a client of the feed. */
    public interface Opener {
        /** @param transport as in {@code STOKER_TRANSPORT} */
        FedBatches open(String transport) throws IOException;
    }

    private record Name(String system, String transport) {
        @Override
        public String toString() {
            return system + ", " + transport;
        }
    }

    /** Measures one row of the table. */
    private interface Row {
        Slice measure(Duration time) throws IOException;
    }

    /** The part of the time for the first epoch and for the code of both ends to be compiled. */
    private static final double WARM_UP = 0.3;

    private final String target;
    private final Opener opener;
    private final Optional<ProcessHandle> feeder;
    private final PlainStream plain;
    private final Progress progress;
    private final List<String> notes = new ArrayList<>();

    /**
     * @param feeder the feeder's process, if it is one on this machine
     * @param plain stays open
     */
    public FeedBench(
            String target, Opener opener, Optional<ProcessHandle> feeder, PlainStream plain, Progress progress) {
        this.target = target;
        this.opener = opener;
        this.feeder = feeder;
        this.plain = plain;
        this.progress = progress;
    }

    /**
     * Measures.
     *
     * @param start of the feeder, if the measurement started it
     * @param time of everything after the start of the feeder
     */
    public FeedResult run(Optional<FeedResult.Start> start, int rounds, Duration time)
            throws IOException, InterruptedException {
        FeedResult.Stream stream;
        FeedResult.First first;
        progress.doing("first epoch");
        try (FedBatches batches = opener.open("tcp")) {
            StreamInfo info = batches.client().info();
            first = first(batches, start, info.samples(), (long) (time.toNanos() * WARM_UP));
            double sampleBytes = first.samples() == 0 ? 0 : (double) first.bytes() / first.samples();
            stream = new FeedResult.Stream(
                    info.dataset(), info.samples(), info.order().batchSize(), sampleBytes);
            if (!batches.hasPayload()) {
                notes.add("the dataset has no payload field: the bytes are whole messages, with keys and alignment");
            }
        }
        Map<Name, Row> systems = systems();
        Map<Name, List<Slice>> slices = new LinkedHashMap<>();
        List<Double> copies = new ArrayList<>();
        Duration each = Duration.ofNanos((long) (time.toNanos() * (1 - WARM_UP) / rounds / (systems.size() + 1)));
        long began = System.nanoTime();
        long limit = (long) (time.toNanos() * (1 - WARM_UP));
        for (int round = 0; round < rounds; round++) {
            // Opening a client takes a moment, so that many short rounds would take longer than the user has asked for.
            if (round > 0 && (progress.isStopped() || System.nanoTime() - began > limit)) {
                break;
            }
            for (Map.Entry<Name, Row> system : systems.entrySet()) {
                progress.doing("round " + (round + 1) + " of " + rounds + ": " + system.getKey());
                slices.computeIfAbsent(system.getKey(), key -> new ArrayList<>())
                        .add(system.getValue().measure(each));
            }
            copies.add(MemoryCopy.measure(each.dividedBy(2), progress));
        }
        if (copies.size() < rounds) {
            notes.add("the time sufficed for " + copies.size() + " of " + rounds + " rounds");
        }
        note(first);
        List<FeedResult.Measured> measured = new ArrayList<>();
        slices.forEach((name, found) -> measured.add(FeedResult.Measured.of(name.system(), name.transport(), found)));
        return new FeedResult(target, stream, first, measured, new Rounds(copies), notes);
    }

    private Map<Name, Row> systems() {
        Map<Name, Row> systems = new LinkedHashMap<>();
        systems.put(
                new Name(FeedResult.PLAIN, "tcp"),
                time -> plain.receive(PlainStream.Transport.TCP, PlainStream.Check.NONE, time, progress));
        systems.put(
                new Name(FeedResult.PLAIN_CRC, "tcp"),
                time -> plain.receive(PlainStream.Transport.TCP, PlainStream.Check.CRC32C, time, progress));
        systems.put(new Name(FeedResult.FEED, "tcp"), time -> feed("tcp", time));
        systems.put(
                new Name(FeedResult.PLAIN, "unix"),
                time -> plain.receive(PlainStream.Transport.UNIX, PlainStream.Check.NONE, time, progress));
        for (String transport : List.of("unix", "local-reads")) {
            systems.put(new Name(FeedResult.FEED, transport), time -> feed(transport, time));
        }
        return systems;
    }

    private FeedResult.First first(
            FedBatches batches, Optional<FeedResult.Start> start, long samples, long limitNanos) {
        long began = System.nanoTime();
        long read = 0;
        long bytes = 0;
        long now = began;
        double seconds = 0;
        do {
            DemandBatches.Taken taken = batches.next();
            now = System.nanoTime();
            if (read < samples) {
                read += taken.samples();
                bytes += taken.bytes();
                seconds = (now - began) / 1e9;
            }
        } while (now - began < limitNanos && !progress.isStopped());
        return new FeedResult.First(start, read, bytes, seconds, read >= samples);
    }

    private Slice feed(String transport, Duration time) throws IOException {
        try (FedBatches batches = opener.open(transport)) {
            // A fifth of the round passes while windows open and buffers grow.
            consume(batches, time.dividedBy(5));
            Slice slice = consume(batches, time.multipliedBy(4).dividedBy(5));
            note(transport, batches.client().stats())
                    .filter(note -> !notes.contains(note))
                    .ifPresent(notes::add);
            return slice;
        }
    }

    /** Returns a note if the payload arrived in another way than the row says. */
    static Optional<String> note(String transport, FeedStats stats) {
        if (!transport.equals("tcp") && stats.unixConnections() == 0) {
            return Optional.of(
                    "the feed has no Unix-domain socket for this user; " + transport + " was measured over TCP");
        }
        return transport.equals("local-reads") && stats.localReadBytes() == 0
                ? Optional.of("the consumer cannot read the feeder's chunk files; local-reads was measured over the"
                        + " Unix-domain socket")
                : Optional.empty();
    }

    private Slice consume(FedBatches batches, Duration time) {
        double ownCpu = CpuTime.ofThisProcess();
        double feederCpu = CpuTime.of(feeder);
        long began = System.nanoTime();
        long now = began;
        long bytes = 0;
        long samples = 0;
        while (samples == 0 || (now - began < time.toNanos() && !progress.isStopped())) {
            DemandBatches.Taken taken = batches.next();
            bytes += taken.bytes();
            samples += taken.samples();
            now = System.nanoTime();
        }
        return new Slice(
                bytes, samples, (now - began) / 1e9, CpuTime.ofThisProcess() - ownCpu, CpuTime.of(feeder) - feederCpu);
    }

    private void note(FeedResult.First first) {
        notes.add(first.note());
        if (feeder.isEmpty()) {
            notes.add("the feeder's processor time is unknown, because it is no single process of this machine");
        }
        Machine.note(progress.loadBefore()).ifPresent(notes::add);
    }
}
