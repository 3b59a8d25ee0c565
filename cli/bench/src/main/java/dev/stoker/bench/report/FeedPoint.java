package dev.stoker.bench.report;

import java.util.List;

/**
 * Where a feed stands on the roofline.
 *
 * @param name for the page
 * @param transport {@code tcp}, {@code unix} or {@code local-reads}
 * @param isFirstEpoch whether it is the first epoch of the measurement
 * @param sampleBytes mean bytes of a sample
 * @param samplesPerSecond the median
 * @param spread of its rounds, relative to the median; {@code NaN} if it was measured once, as a first epoch is
 * @param own the roofs of its dataset and transport: the storage, if its chunks came from there, and the bytes a
 *     second at which feeder and consumer would use all processors, if their processor time is known. A first epoch has
 *     the processor time of later epochs
 * @param feederSecondsPerGb processor time of the feeder for each GB; 0 if unknown
 */
public record FeedPoint(
        String name,
        String transport,
        boolean isFirstEpoch,
        double sampleBytes,
        double samplesPerSecond,
        double spread,
        List<Roof> own,
        double feederSecondsPerGb) {

    public FeedPoint {
        own = List.copyOf(own);
    }

    public double bytesPerSecond() {
        return sampleBytes * samplesPerSecond;
    }
}
