package dev.stoker.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.bench.measure.Rounds;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The roofs of the measured machine, and where its feeds stand below them.
 *
 * @param roofs each resource at most once, but a storage for each place
 * @param points of feeds
 * @param files samples a second by bytes, if each sample were a file or object of its size
 *     that is read at a random place
 */
public record Roofline(List<Roof> roofs, List<FeedPoint> points, Map<Double, Double> files) {

    /** A feed moves each byte twice at least: into a socket and out of it. */
    private static final int COPIES = 2;

    public Roofline {
        roofs = List.copyOf(roofs);
        points = List.copyOf(points);
        files = new TreeMap<>(files);
    }

    /**
     * Computes the roofs.
     *
     * @param network bytes a second of the network between feeder and trainers; empty for the loopback as measured
     */
    public static Roofline of(Measurements findings, OptionalDouble network) {
        List<Roof> roofs = new ArrayList<>();
        List<JsonNode> reads = new ArrayList<>();
        findings.storages().forEach(storage -> storage.path("reads").forEach(reads::add));
        StorageRoofs storages = new StorageRoofs(findings.storages());
        roofs.addAll(storages.all());
        StorageRoofs.best(reads, "warm")
                .ifPresent(read -> roofs.add(StorageRoofs.roof(Roof.Resource.PAGE_CACHE, "page cache", read)));
        List<FeedPoint> points = new ArrayList<>();
        for (JsonNode feed : findings.feeds()) {
            points(feed, storages.over(feed.path("target").asText()), points);
        }
        if (network.isPresent()) {
            roofs.add(Roof.given(network.getAsDouble()));
        }
        if (!findings.feeds().isEmpty()) {
            ofMachine(findings.feeds(), network.isEmpty(), roofs);
        }
        return new Roofline(roofs, points, files(reads));
    }

    /** Random reads of blocks of the sample's size, with the best number of reads at a time. */
    private static Map<Double, Double> files(List<JsonNode> reads) {
        Map<Double, Double> files = new TreeMap<>();
        for (JsonNode read : reads) {
            if (read.path("pattern").asText().equals("random")
                    && !read.path("cache").asText().equals("warm")) {
                double block = read.path("block_bytes").asDouble();
                files.merge(block, Rounds.of(read.path("bytes_per_s")).median() / block, Math::max);
            }
        }
        return files;
    }

    private static void points(JsonNode feed, List<Roof> storages, List<FeedPoint> points) {
        double bytes = feed.path("sample_bytes").asDouble();
        String dataset = feed.path("dataset").asText();
        JsonNode first = feed.path("first_epoch");
        double missed = missed(feed);
        List<Roof> storagesLater =
                missed > 0 ? storages.stream().map(roof -> partly(roof, missed)).toList() : List.of();
        List<FeedPoint> later = new ArrayList<>();
        int processors = feed.at("/machine/processors").asInt(1);
        for (JsonNode system : feed.path("systems")) {
            if (system.path("system").asText().equals("feed")) {
                String transport = system.path("transport").asText();
                Rounds samples = Rounds.of(system.path("samples_per_s"));
                Optional<Rounds> cpu = cpu(system);
                List<Roof> own = new ArrayList<>(storagesLater);
                cpu.ifPresent(seconds -> own.add(processors(
                        "all processors, at the processor time of feeder and consumer over " + transport,
                        processors,
                        seconds)));
                later.add(new FeedPoint(
                        dataset + ", " + transport,
                        transport,
                        false,
                        bytes,
                        samples.median(),
                        samples.spread(),
                        own,
                        cpu.isPresent()
                                ? Rounds.of(system.path("sender_cpu_s_per_gb")).median()
                                : 0));
            }
        }
        List<Roof> ownFirst = new ArrayList<>();
        later.stream()
                .filter(point -> point.transport().equals("tcp"))
                .flatMap(point -> point.own().stream())
                .filter(roof -> roof.resource() == Roof.Resource.CPU)
                .map(roof -> new Roof(
                        roof.resource(), roof.name() + " in later epochs", roof.bytesPerSecond(), roof.spread()))
                .forEach(ownFirst::add);
        if (first.has("feeder_start_s")) {
            ownFirst.addAll(storages);
        }
        double rate = first.path("samples_per_s").asDouble();
        String name = dataset + ", first epoch" + (first.has("feeder_start_s") ? "" : " of this measurement")
                + (first.path("complete").asBoolean(true) ? "" : " (not complete)") + ", tcp";
        points.add(new FeedPoint(name, "tcp", true, bytes, rate, Double.NaN, ownFirst, 0));
        points.addAll(later);
    }

    /** Adds what the feeds' runs say of this machine: processors, memory, loopback; the best of several runs. */
    private static void ofMachine(List<JsonNode> feeds, boolean withLoopback, List<Roof> roofs) {
        List<Roof> found = new ArrayList<>();
        for (JsonNode feed : feeds) {
            int processors = feed.at("/machine/processors").asInt(1);
            for (JsonNode system : feed.path("systems")) {
                boolean isTcp = system.path("transport").asText().equals("tcp");
                if (isTcp && withLoopback && system.path("system").asText().equals("plain stream")) {
                    Rounds rate = Rounds.of(system.path("bytes_per_s"));
                    found.add(new Roof(
                            Roof.Resource.NETWORK, "loopback, plain stream over TCP", rate.median(), rate.spread()));
                }
                if (isTcp && system.path("system").asText().equals("feed")) {
                    cpu(system)
                            .ifPresent(seconds -> found.add(processors(
                                    String.format(
                                            Locale.ROOT,
                                            "%d processors, %.2f s for each GB of feed over TCP (feeder and consumer)",
                                            processors,
                                            seconds.median()),
                                    processors,
                                    seconds)));
                }
            }
            Rounds copy = Rounds.of(feed.path("memory_copy_bytes_per_s"));
            found.add(new Roof(
                    Roof.Resource.MEMORY,
                    "memory, copies by all processors, two for each byte",
                    copy.median() / COPIES,
                    copy.spread()));
        }
        for (Roof.Resource resource : List.of(Roof.Resource.NETWORK, Roof.Resource.CPU, Roof.Resource.MEMORY)) {
            found.stream()
                    .filter(roof -> roof.resource() == resource)
                    .max(Comparator.comparingDouble(Roof::bytesPerSecond))
                    .ifPresent(roofs::add);
        }
    }

    /** Seconds of processor time of both ends for each GB; empty if one of them is unknown. */
    private static Optional<Rounds> cpu(JsonNode system) {
        if (!system.has("sender_cpu_s_per_gb")) {
            return Optional.empty();
        }
        List<Double> consumer = Rounds.of(system.path("consumer_cpu_s_per_gb")).values();
        List<Double> sender = Rounds.of(system.path("sender_cpu_s_per_gb")).values();
        Rounds both = new Rounds(IntStream.range(0, Math.min(consumer.size(), sender.size()))
                .mapToObj(round -> consumer.get(round) + sender.get(round))
                .toList());
        return both.median() > 0 ? Optional.of(both) : Optional.empty();
    }

    /** The least part of a later epoch that a feeder reads from the origin again; 0 if that is unknown. */
    private static double missed(JsonNode feed) {
        double bytes =
                feed.path("samples").asDouble() * feed.path("sample_bytes").asDouble();
        return feed.has("kept_bytes") ? Math.max(0, 1 - feed.path("kept_bytes").asDouble() / bytes) : 0;
    }

    private static Roof partly(Roof storage, double share) {
        String name = storage.name() + ", for the " + Amounts.percent(share) + " of the bytes that memory cannot keep";
        return new Roof(storage.resource(), name, storage.bytesPerSecond() / share, storage.spread());
    }

    private static Roof processors(String name, int processors, Rounds secondsPerGb) {
        return new Roof(Roof.Resource.CPU, name, processors * 1e9 / secondsPerGb.median(), secondsPerGb.spread());
    }

    /** The roofs over a feed: its own roofs, and the roofs of the machine. */
    public List<Roof> over(FeedPoint point) {
        boolean hasProcessors = point.own().stream().anyMatch(roof -> roof.resource() == Roof.Resource.CPU);
        Stream<Roof> machine = roofs.stream().filter(roof -> switch (roof.resource()) {
            case STORAGE -> false;
            case PAGE_CACHE -> !point.isFirstEpoch();
            case NETWORK -> point.transport().equals("tcp");
            case CPU -> !hasProcessors;
            case MEMORY -> true;
        });
        return Stream.concat(point.own().stream(), machine).toList();
    }

    /** The best later epoch, by transport {@code tcp} if possible, because trainers are usually on other machines. */
    public Optional<FeedPoint> best(double sampleBytes) {
        return points.stream()
                .filter(point -> !point.isFirstEpoch() && point.transport().equals("tcp"))
                .min(Comparator.comparingDouble(point -> Math.abs(Math.log(point.sampleBytes() / sampleBytes))));
    }

    /**
     * Estimates the processor seconds of the feeder for each GB of samples of another size, from its point with the
     * nearest size: smaller samples cost the same each.
     *
     * @return 0 if unknown
     */
    double feederSecondsPerGb(double sampleBytes) {
        return best(sampleBytes)
                .map(point -> point.feederSecondsPerGb() * Math.max(1, point.sampleBytes() / sampleBytes))
                .orElse(0.0);
    }

    /**
     * Estimates the samples a second of the feed for samples of another size, from its point with the nearest size: it
     * moves at most the same bytes for larger samples, and at most the same samples for smaller ones.
     */
    public OptionalDouble capacity(double sampleBytes) {
        Optional<FeedPoint> nearest = best(sampleBytes);
        if (nearest.isEmpty()) {
            return OptionalDouble.empty();
        }
        FeedPoint point = nearest.get();
        return OptionalDouble.of(Math.min(point.samplesPerSecond(), point.bytesPerSecond() / sampleBytes));
    }
}
