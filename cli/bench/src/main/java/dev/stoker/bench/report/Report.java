package dev.stoker.bench.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.demand.Shape;
import dev.stoker.bench.feed.FeedResult;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * What the page says, computed from the results.
 *
 * @param findings the results
 * @param roofline the roofs, and where the feeds stand
 * @param verdicts one for each feed
 * @param shapes the demand of one accelerator each
 * @param supplies one for each shape, if a feed was measured
 */
public record Report(
        Measurements findings, Roofline roofline, List<Verdict> verdicts, List<Shape> shapes, List<Supply> supplies) {

    /**
     * What the feed is to the accelerators of one shape.
     *
     * @param fromBytes mean bytes of the measured samples of the estimate
     * @param samplesPerSecond estimated capacity of the feed for samples of the shape
     * @param accelerators that it keeps at their least utilization
     * @param measured accelerators and utilization of emulated ones, if they were measured
     * @param wanted accelerators of the sizing
     * @param sizing for these
     */
    public record Supply(
            Shape shape,
            double fromBytes,
            double samplesPerSecond,
            long accelerators,
            List<Measured> measured,
            int wanted,
            Sizing sizing) {

        /** From here on, samples differ so much that the page marks the estimate. */
        private static final double FAR = 4;
        /** From here on, an estimate says nothing. */
        private static final double TOO_FAR = 100;

        /** What the estimate is made of. */
        public String from() {
            boolean isFar = distance() > FAR;
            return "samples of " + Units.bytes(Math.round(fromBytes))
                    + (isFar ? ", far from " + Units.bytes(Math.round(shape.sampleBytes())) : "");
        }

        private double distance() {
            return Math.max(fromBytes / shape.sampleBytes(), shape.sampleBytes() / fromBytes);
        }

        /** Whether the measured samples allow an estimate for the shape. */
        public boolean isEstimate() {
            return distance() <= TOO_FAR;
        }
    }

    /** Emulated accelerators that consumed a feed. */
    public record Measured(int accelerators, double utilization, boolean isMet) {}

    public Report {
        verdicts = List.copyOf(verdicts);
        shapes = List.copyOf(shapes);
        supplies = List.copyOf(supplies);
    }

    /**
     * Computes the page.
     *
     * @param shapes for results without a demand
     * @param network see {@link Roofline#of}
     * @param wanted accelerators of the sizing
     * @param datasetBytes of the dataset that the tiers keep; 0 if unknown
     */
    public static Report of(
            Measurements findings, List<Shape> shapes, OptionalDouble network, int wanted, double datasetBytes) {
        Roofline roofline = Roofline.of(findings, network);
        List<Shape> all = new ArrayList<>();
        for (JsonNode demand : findings.demands()) {
            for (JsonNode shape : demand.path("shapes")) {
                all.add(shape(shape));
            }
        }
        if (all.isEmpty()) {
            all.addAll(shapes);
        }
        List<Supply> supplies = new ArrayList<>();
        for (Shape shape : all.stream().distinct().toList()) {
            supply(findings, roofline, shape, network, wanted, datasetBytes).ifPresent(supplies::add);
        }
        List<Verdict> verdicts = roofline.points().stream()
                .map(point -> Verdict.of(roofline, point))
                .toList();
        return new Report(findings, roofline, verdicts, all.stream().distinct().toList(), supplies);
    }

    /** Returns one sentence: the limit of the best feed, or why it is unknown. */
    public String headline() {
        Optional<Verdict> best = verdicts.stream()
                .filter(verdict -> !verdict.point().isFirstEpoch())
                .max(Comparator.comparing(
                                (Verdict verdict) -> verdict.point().transport().equals("tcp"))
                        .thenComparing(verdict -> verdict.point().bytesPerSecond()))
                .or(() -> verdicts.stream().findFirst());
        return best.map(Verdict::headline).orElse("No feed was measured, so its limit is unknown");
    }

    /** The same for programs. */
    public ObjectNode json() {
        ObjectNode json =
                JsonNodeFactory.instance.objectNode().put("bench", "report").put("headline", headline());
        ArrayNode limits = json.putArray("feeds");
        for (Verdict verdict : verdicts) {
            ObjectNode feed = limits.addObject()
                    .put("feed", verdict.point().name())
                    .put("sample_bytes", verdict.point().sampleBytes())
                    .put("samples_per_s", verdict.point().samplesPerSecond())
                    .put("bytes_per_s", verdict.point().bytesPerSecond());
            if (!Double.isNaN(verdict.point().spread())) {
                feed.put("spread", verdict.point().spread());
            }
            verdict.limit()
                    .ifPresent(roof -> feed.put("limit", roof.resource().toString())
                            .put("limit_bytes_per_s", roof.bytesPerSecond())
                            .put("share", verdict.share())
                            .put("explained", verdict.isExplained())
                            .put("certain", verdict.isCertain()));
            feed.put("advice", verdict.advice());
        }
        ArrayNode all = json.putArray("shapes");
        for (Supply supply : supplies) {
            ObjectNode shape = all.addObject()
                    .put("shape", supply.shape().name())
                    .put("accelerator", supply.shape().accelerator())
                    .put("from_sample_bytes", supply.fromBytes());
            if (!supply.isEstimate()) {
                continue;
            }
            shape.put("feed_samples_per_s", supply.samplesPerSecond()).put("accelerators", supply.accelerators());
            Sizing sizing = supply.sizing();
            ObjectNode each = shape.putObject("sizing")
                    .put("accelerators", supply.wanted())
                    .put("samples_per_s", sizing.samplesPerSecond())
                    .put("bytes_per_s", sizing.bytesPerSecond())
                    .put("feeders", sizing.feeders())
                    .put("network_bits_per_s", sizing.networkBitsPerSecond())
                    .put("memory_bytes", sizing.memoryBytes());
            sizing.feederProcessors().ifPresent(processors -> each.put("processors", processors));
            sizing.tierBytes().ifPresent(bytes -> each.put("tier_bytes", bytes));
        }
        return json;
    }

    /** @throws IllegalArgumentException if it is damaged */
    static Shape shape(JsonNode json) {
        return new Shape(
                json.path("shape").asText(),
                json.path("accelerator").asText(),
                json.path("sample_bytes").asDouble(),
                json.path("sample_bytes_stdev").asDouble(),
                json.path("batch_size").asInt(),
                json.path("computation_time_s").asDouble(),
                json.path("utilization").asDouble(),
                json.path("source").asText());
    }

    private static Optional<Supply> supply(
            Measurements findings,
            Roofline roofline,
            Shape shape,
            OptionalDouble network,
            int wanted,
            double datasetBytes) {
        OptionalDouble capacity = roofline.capacity(shape.sampleBytes());
        if (capacity.isEmpty()) {
            return Optional.empty();
        }
        // A given network is a roof over what the loopback has shown.
        double samples = network.isPresent()
                ? Math.min(
                        capacity.getAsDouble(),
                        Roof.given(network.getAsDouble()).samplesPerSecond(shape.sampleBytes()))
                : capacity.getAsDouble();
        Sizing.Feeder feeder = new Sizing.Feeder(
                samples,
                network.orElse(Double.POSITIVE_INFINITY),
                roofline.feederSecondsPerGb(shape.sampleBytes()),
                isInMemory(findings) ? Sizing.Chunks.IN_MEMORY : Sizing.Chunks.MAPPED);
        double needed = wanted * shape.leastSamplesPerSecond();
        return Optional.of(new Supply(
                shape,
                roofline.best(shape.sampleBytes()).orElseThrow().sampleBytes(),
                samples,
                Sizing.accelerators(samples, shape.leastSamplesPerSecond()),
                measured(findings, shape),
                wanted,
                Sizing.of(needed, shape.sampleBytes(), feeder, datasetBytes)));
    }

    /** Whether the feeders cannot map the chunks of their origin. Of a feed that ran before it is unknown. */
    private static boolean isInMemory(Measurements findings) {
        return Stream.concat(findings.feeds().stream(), findings.storages().stream())
                        .anyMatch(json -> Stores.isRemote(
                                FeedResult.dataset(json.path("target").asText())))
                || findings.feeds().stream()
                        .anyMatch(feed -> !feed.path("first_epoch").has("feeder_start_s"));
    }

    private static List<Measured> measured(Measurements findings, Shape shape) {
        List<Measured> measured = new ArrayList<>();
        for (JsonNode demand : findings.demands()) {
            for (JsonNode run : demand.path("runs")) {
                if (run.path("shape").asText().equals(shape.name())
                        && run.path("accelerator").asText().equals(shape.accelerator())) {
                    measured.add(new Measured(
                            run.path("accelerators").asInt(),
                            run.at("/utilization/median").asDouble(),
                            run.path("met").asBoolean()));
                }
            }
        }
        return measured;
    }
}
