package dev.stoker.feeder.node.tiers;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What has gone wrong with the files of a tier, and whether it is off for that. Thread-safe. */
final class FileFaults {
    private static final Logger LOG = LoggerFactory.getLogger(FileFaults.class);
    /** So many failures one after the other are no accident. */
    private static final int MOST = 3;

    private final String name;
    private final String place;
    private final TierUse use;
    /** Of those that went wrong one after the other. */
    private final AtomicInteger writes = new AtomicInteger();

    private final AtomicInteger reads = new AtomicInteger();
    /** Why it takes nothing more, or empty. */
    private volatile String off = "";
    /** Whether what it has cannot be read any more either. */
    private volatile boolean unreadable;

    /**
     * @param name the tier's
     * @param place what is full when nothing more fits
     * @param use where failures are counted
     */
    FileFaults(String name, String place, TierUse use) {
        this.name = name;
        this.place = place;
        this.use = use;
    }

    /** Why the tier takes nothing more, or empty. */
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

    /** A read went well. */
    void hasRead() {
        reads.set(0);
    }

    synchronized void writeFailed(IOException why) {
        use.failures.increment();
        String message = String.valueOf(why.getMessage());
        if (message.contains("No space left") || message.contains("quota exceeded")) {
            turnOff(place + " is full; what it holds is served: " + why.getMessage());
        } else if (writes.incrementAndGet() >= MOST) {
            turnOff("it cannot be written: " + why);
        }
    }

    /** A chunk was placed. */
    void hasWritten() {
        writes.set(0);
    }

    private void turnOff(String why) {
        if (off.isEmpty()) {
            off = why;
            LOG.warn("Tier {} is off, the feed goes on without it: {}", name, why);
        }
    }
}
