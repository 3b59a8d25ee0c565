package dev.stoker.server.tiers;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The failures of a tier's files, and whether they have turned the tier off. Thread-safe. */
final class FileFaults {
    private static final Logger LOG = LoggerFactory.getLogger(FileFaults.class);
    /** This number of consecutive failures turns the tier off. */
    private static final int MOST = 3;

    private final String name;
    private final String place;
    private final TierUse use;
    /** Numbers of consecutive failed writes and reads. */
    private final AtomicInteger writes = new AtomicInteger();

    private final AtomicInteger reads = new AtomicInteger();
    /** Why the tier accepts no more chunks, or empty. */
    private volatile String off = "";
    /** Whether the chunks in the tier cannot be read any more either. */
    private volatile boolean unreadable;

    /**
     * @param name the name of the tier
     * @param place what is full when no further chunk fits
     * @param use counts the failures
     */
    FileFaults(String name, String place, TierUse use) {
        this.name = name;
        this.place = place;
        this.use = use;
    }

    /** Returns why the tier accepts no more chunks, or empty. */
    String off() {
        return off;
    }

    boolean isOff() {
        return !off.isEmpty();
    }

    boolean isUnreadable() {
        return unreadable;
    }

    synchronized void readFailed(IOException why) {
        use.failures.increment();
        if (reads.incrementAndGet() >= MOST && !unreadable) {
            unreadable = true;
            turnOff("it cannot be read: " + why);
        }
    }

    /** Notes a successful read. */
    void hasRead() {
        reads.set(0);
    }

    synchronized void writeFailed(IOException why) {
        use.failures.increment();
        String message = String.valueOf(why.getMessage());
        if (message.contains("No space left") || message.contains("quota exceeded")) {
            turnOff(place + " is full; its chunks are still served: " + why.getMessage());
        } else if (writes.incrementAndGet() >= MOST) {
            turnOff("it cannot be written: " + why);
        }
    }

    /** Notes that a chunk was placed. */
    void hasWritten() {
        writes.set(0);
    }

    private void turnOff(String why) {
        if (off.isEmpty()) {
            off = why;
            LOG.warn("Tier {} is off; the feed continues without it: {}", name, why);
        }
    }
}
