package dev.stoker.bench.report;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What a resource allows at most: bytes a second.
 *
 * @param resource what it is
 * @param name for the page, with the way in which it was measured
 * @param bytesPerSecond of payload that a feed can move at most
 * @param spread of its rounds, relative to the median; {@code NaN} if it was measured once
 */
public record Roof(Resource resource, String name, double bytesPerSecond, double spread) {

    private static final String GIVEN = ", as given";

    /** A network that the user has named instead of a measurement. */
    static Roof given(double networkBytesPerSecond) {
        String name = "network of " + Amounts.bits(8 * networkBytesPerSecond) + GIVEN + ", less 5 % for frames";
        return new Roof(Resource.NETWORK, name, networkBytesPerSecond / Sizing.FRAMES, 0);
    }

    /** Whether the user has named it: a feed over loopback can be faster. */
    boolean isGiven() {
        return resource == Resource.NETWORK && name.contains(GIVEN);
    }

    /** A resource that can be the limit. */
    public enum Resource {
        STORAGE("storage"),
        PAGE_CACHE("page cache"),
        NETWORK("network"),
        CPU("processors"),
        MEMORY("memory bandwidth");

        private final String text;

        Resource(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /** Samples a second that the resource allows for samples of this size. */
    public double samplesPerSecond(double sampleBytes) {
        return bytesPerSecond / sampleBytes;
    }

    /** Returns the lowest of some roofs. */
    public static Optional<Roof> lowest(List<Roof> roofs) {
        return roofs.stream().min(Comparator.comparingDouble(Roof::bytesPerSecond));
    }
}
