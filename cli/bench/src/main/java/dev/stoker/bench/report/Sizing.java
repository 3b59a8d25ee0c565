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
 * @param memoryBytes of each feeder, without tiers
 * @param tierBytes of each feeder, to keep the dataset; empty if its size is unknown
 */
public record Sizing(
        double samplesPerSecond,
        double bytesPerSecond,
        long feeders,
        double networkBitsPerSecond,
        OptionalDouble feederProcessors,
        double memoryBytes,
        OptionalDouble tierBytes) {

    /** Bytes on the network for each byte of payload. */
    static final double FRAMES = 1.05;

    private static final double GIB = 1 << 30;

    /**
     * What one feeder machine can do.
     *
     * @param samplesPerSecond for samples of the wanted size
     * @param networkBytesPerSecond of its network, infinite if it is unknown
     * @param cpuSecondsPerGb of the feeder's process; 0 if unknown
     * @param chunks how it holds the chunks of open windows
     */
    public record Feeder(
            double samplesPerSecond, double networkBytesPerSecond, double cpuSecondsPerGb, Chunks chunks) {}

    /** Where the chunks of open windows are. */
    public enum Chunks {
        /** In mapped files, thus in the page cache. */
        MAPPED,
        /** In working memory: two shuffle windows, or the dataset if that is smaller. */
        IN_MEMORY
    }

    /**
     * Computes the sizing: feeders = ⌈samples/s ÷ samples/s of a feeder⌉ or ⌈bytes/s × 1.05 ÷ bytes/s of a feeder's
     * network⌉, whichever is greater; network, processors and tiers of each are the shares of the whole. Memory of
     * each = 1 GiB, and 2 GiB or the dataset, whichever is smaller, for chunks in memory.
     *
     * @param samplesPerSecond that the accelerators need together
     * @param datasetBytes 0 if unknown
     */
    public static Sizing of(double samplesPerSecond, double sampleBytes, Feeder feeder, double datasetBytes) {
        double bytes = samplesPerSecond * sampleBytes;
        double byRate = samplesPerSecond / feeder.samplesPerSecond();
        double byNetwork = bytes * FRAMES / feeder.networkBytesPerSecond();
        double windows = datasetBytes > 0 ? Math.min(2 * GIB, datasetBytes) : 2 * GIB;
        long feeders = Math.max(1, (long) Math.ceil(Math.max(byRate, byNetwork) - 1e-9));
        return new Sizing(
                samplesPerSecond,
                bytes,
                feeders,
                bytes * FRAMES * 8 / feeders,
                feeder.cpuSecondsPerGb() > 0
                        ? OptionalDouble.of(bytes / 1e9 * feeder.cpuSecondsPerGb() / feeders)
                        : OptionalDouble.empty(),
                GIB + (feeder.chunks() == Chunks.IN_MEMORY ? windows : 0),
                datasetBytes > 0 ? OptionalDouble.of(datasetBytes / feeders) : OptionalDouble.empty());
    }

    /** Accelerators that a feed keeps at their least utilization. */
    public static long accelerators(double capacity, double leastSamplesPerSecond) {
        return (long) Math.floor(capacity / leastSamplesPerSecond + 1e-9);
    }
}
