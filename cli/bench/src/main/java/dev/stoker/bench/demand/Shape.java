package dev.stoker.bench.demand;

import java.util.ArrayList;
import java.util.List;

/**
 * What one accelerator asks for.
 *
 * @param name of the workload
 * @param accelerator that the time was measured on
 * @param sampleBytes mean bytes of a sample
 * @param deviation standard deviation of the bytes
 * @param batchSize samples of a step
 * @param computeSeconds time that the accelerator computes in a step
 * @param utilization the least share of the time that it should compute
 * @param source where the figures come from
 */
public record Shape(
        String name,
        String accelerator,
        double sampleBytes,
        double deviation,
        int batchSize,
        double computeSeconds,
        double utilization,
        String source) {

    private static final double MOST_BYTES = 1e12;

    /** @throws IllegalArgumentException naming all problems */
    public Shape {
        List<String> problems = new ArrayList<>();
        if (!(sampleBytes >= 1 && sampleBytes <= MOST_BYTES)) {
            problems.add("record_length_bytes is " + sampleBytes + ", not between 1 and 1e12");
        }
        if (!(deviation >= 0 && deviation <= MOST_BYTES)) {
            problems.add("record_length_bytes_stdev is " + deviation + ", not between 0 and 1e12");
        }
        if (batchSize < 1) {
            problems.add("batch_size is " + batchSize + ", not positive");
        }
        if (!(computeSeconds > 0) || computeSeconds > 3600) {
            problems.add("computation_time is " + computeSeconds + " s, not between 0 and 3600");
        }
        if (!(utilization > 0 && utilization <= 1)) {
            problems.add("au is " + utilization + ", not between 0 and 1");
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
    }

    /** Samples a second of one accelerator that never waits. */
    public double samplesPerSecond() {
        return batchSize / computeSeconds;
    }

    /** Bytes a second of one accelerator that never waits. */
    public double bytesPerSecond() {
        return samplesPerSecond() * sampleBytes;
    }

    /** Samples a second at which one accelerator reaches its least utilization. */
    public double leastSamplesPerSecond() {
        return samplesPerSecond() * utilization;
    }
}
