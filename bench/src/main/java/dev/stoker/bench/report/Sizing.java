package dev.stoker.bench.report;

import java.util.OptionalDouble;

/**
 * How many feeders some accelerators need.
 *
 * @param samplesPerSecond that the accelerators need together
 * @param bytesPerSecond of payload
 * @param feeders machines like the measured one
 * @param networkBitsPerSecond of each feeder, with 5 % for frames and headers
 * @param feederProcessors of each feeder, from its measured processor time; empty if that is unknown
 * @param tierBytes of each feeder, to keep the dataset; empty if its size is unknown
 */
public record Sizing(
        double samplesPerSecond,
        double bytesPerSecond,
        long feeders,
        double networkBitsPerSecond,
        OptionalDouble feederProcessors,
        OptionalDouble tierBytes) {

    private static final double FRAMES = 1.05;

    /**
     * What one feeder machine can do.
     *
     * @param samplesPerSecond for samples of the wanted size
     * @param networkBytesPerSecond of its network, infinite if it is unknown
     * @param cpuSecondsPerGb of the feeder's process; 0 if unknown
     */
    public record Feeder(double samplesPerSecond, double networkBytesPerSecond, double cpuSecondsPerGb) {}

    /**
     * Computes the sizing: feeders = ⌈samples/s ÷ samples/s of a feeder⌉ or ⌈bytes/s × 1.05 ÷ bytes/s of a feeder's
     * network⌉, whichever is greater; network, processors and tiers of each are the shares of the whole.
     *
     * @param samplesPerSecond that the accelerators need together
     * @param datasetBytes 0 if unknown
     */
    public static Sizing of(double samplesPerSecond, double sampleBytes, Feeder feeder, double datasetBytes) {
        double bytes = samplesPerSecond * sampleBytes;
        double byRate = samplesPerSecond / feeder.samplesPerSecond();
        double byNetwork = bytes * FRAMES / feeder.networkBytesPerSecond();
        long feeders = Math.max(1, (long) Math.ceil(Math.max(byRate, byNetwork) - 1e-9));
        return new Sizing(
                samplesPerSecond,
                bytes,
                feeders,
                bytes * FRAMES * 8 / feeders,
                feeder.cpuSecondsPerGb() > 0
                        ? OptionalDouble.of(bytes / 1e9 * feeder.cpuSecondsPerGb() / feeders)
                        : OptionalDouble.empty(),
                datasetBytes > 0 ? OptionalDouble.of(datasetBytes / feeders) : OptionalDouble.empty());
    }

    /** Accelerators that a feed keeps at their least utilization. */
    public static long accelerators(double capacity, double leastSamplesPerSecond) {
        return (long) Math.floor(capacity / leastSamplesPerSecond + 1e-9);
    }
}
