package dev.stoker.bench.report;

import java.util.Optional;

/**
 * Where a feed stands on the roofline.
 *
 * @param name for the page
 * @param transport {@code tcp}, {@code unix} or {@code local-reads}
 * @param isFirstEpoch whether it is the first epoch of the measurement
 * @param originShare the part of its bytes that the feeder read from the origin; 0 if that is unknown
 * @param sampleBytes mean bytes of a sample
 * @param samplesPerSecond the median
 * @param spread of its rounds, relative to the median; {@code NaN} if it was measured once, as a first epoch is
 * @param processors the bytes a second at which feeder and consumer would use all processors. A first epoch has the
 *     rate of later epochs. Empty if the processor time of the feeder or the consumer is unknown
 * @param feederSecondsPerGb processor time of the feeder for each GB; 0 if unknown
 */
public record FeedPoint(
        String name,
        String transport,
        boolean isFirstEpoch,
        double originShare,
        double sampleBytes,
        double samplesPerSecond,
        double spread,
        Optional<Roof> processors,
        double feederSecondsPerGb) {

    public double bytesPerSecond() {
        return sampleBytes * samplesPerSecond;
    }
}
