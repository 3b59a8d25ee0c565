package dev.stoker.bench.feed;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.bench.measure.Machine;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.metadata.version.DatasetReference;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What a feed and its ceilings reached.
 *
 * @param target as typed
 * @param stream the stream that was read
 * @param first the first epoch that was measured
 * @param systems the feed by transport, and the ceilings
 * @param memoryCopy bytes a second that all processors copy in memory
 * @param notes what a reader of the figures must know
 */
public record FeedResult(
        String target, Stream stream, First first, List<Measured> systems, Rounds memoryCopy, List<String> notes) {

    /** The name of the feed among the systems. */
    public static final String FEED = "feed";

    /** The ceiling of every feed. */
    public static final String PLAIN = "plain stream";

    /** The ceiling with a checksum over all bytes. */
    public static final String PLAIN_CRC = "plain stream + CRC-32C";

    /**
     * The stream that was read.
     *
     * @param samples of an epoch
     * @param batchSize samples of a batch
     * @param sampleBytes mean bytes of the payload of a sample
     */
    public record Stream(String dataset, long samples, int batchSize, double sampleBytes) {}

    /**
     * The start of a feeder by the measurement.
     *
     * @param seconds until it served trainers
     * @param keptBytes of chunks that memory can keep between epochs at most
     */
    public record Start(double seconds, long keptBytes) {}

    /**
     * The first epoch.
     *
     * @param start of the feeder, if the measurement started it
     * @param samples that were read, all of the epoch if it is complete
     * @param isComplete whether the time sufficed for the epoch
     */
    public record First(Optional<Start> start, long samples, long bytes, double seconds, boolean isComplete) {
        /** Its name: only a feeder that the measurement started has not read these chunks before. */
        public String name() {
            return start.isPresent() ? "first epoch" : "first epoch of this measurement";
        }

        String note() {
            return name() + ": " + (isComplete ? "" : "not complete in the time; ")
                    + (start.isPresent()
                            ? "the feeder reads from the origin; chunks on a local disk can be in the page cache"
                                    + " already"
                            : "the feeder ran before; its tiers or the page cache can have chunks already");
        }

        /** Samples that were read again to fill the last batch of the epoch. */
        public long repeated(Stream of) {
            return Math.max(0, samples - of.samples());
        }

        public double bytesPerSecond() {
            return bytes / Math.max(1e-9, seconds);
        }

        public double samplesPerSecond() {
            return samples / Math.max(1e-9, seconds);
        }
    }

    /**
     * One system over one transport.
     *
     * @param samplesPerSecond 0 for a system without samples
     * @param consumerCpu seconds of processor time of the receiving process for each GB
     * @param senderCpu seconds of processor time of the sending process for each GB; 0 if unknown
     */
    public record Measured(
            String system,
            String transport,
            Rounds bytesPerSecond,
            Rounds samplesPerSecond,
            Rounds consumerCpu,
            Rounds senderCpu) {

        static Measured of(String system, String transport, List<Slice> slices) {
            return new Measured(
                    system,
                    transport,
                    new Rounds(slices.stream().map(Slice::bytesPerSecond).toList()),
                    new Rounds(slices.stream().map(Slice::samplesPerSecond).toList()),
                    new Rounds(slices.stream().map(Slice::consumerCpuPerGb).toList()),
                    new Rounds(slices.stream().map(Slice::senderCpuPerGb).toList()));
        }
    }

    /** Returns the directory or URI of a target {@code [name=]path[@version][:split]}. */
    public static String dataset(String target) {
        String reference = target.replaceFirst("^[^/=]*=", "");
        return DatasetReference.parse(reference).map(DatasetReference::path).orElse(reference);
    }

    public FeedResult {
        systems = List.copyOf(systems);
        notes = List.copyOf(notes);
    }

    /**
     * The same for programs.
     *
     * @param load of the machine before the measurement
     */
    public ObjectNode json(Instant at, double load) {
        ObjectNode json = Machine.describe("feed", at, load);
        json.put("target", target)
                .put("dataset", stream.dataset())
                .put("samples", stream.samples())
                .put("batch_size", stream.batchSize())
                .put("sample_bytes", stream.sampleBytes());
        ObjectNode epoch = json.putObject("first_epoch");
        first.start().ifPresent(start -> {
            epoch.put("feeder_start_s", start.seconds());
            json.put("kept_bytes", start.keptBytes());
        });
        epoch.put("samples", first.samples())
                .put("bytes", first.bytes())
                .put("seconds", first.seconds())
                .put("complete", first.isComplete())
                .put("samples_per_s", first.samplesPerSecond())
                .put("bytes_per_s", first.bytesPerSecond());
        ArrayNode all = json.putArray("systems");
        for (Measured system : systems) {
            ObjectNode one = all.addObject().put("system", system.system()).put("transport", system.transport());
            one.set("bytes_per_s", system.bytesPerSecond().json());
            if (system.samplesPerSecond().max() > 0) {
                one.set("samples_per_s", system.samplesPerSecond().json());
            }
            one.set("consumer_cpu_s_per_gb", system.consumerCpu().json());
            if (system.senderCpu().max() > 0) {
                one.set("sender_cpu_s_per_gb", system.senderCpu().json());
            }
        }
        json.set("memory_copy_bytes_per_s", memoryCopy.json());
        notes.forEach(json.putArray("notes")::add);
        return json;
    }
}
