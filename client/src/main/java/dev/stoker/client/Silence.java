package dev.stoker.client;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Tells feeders that are silent from those that are slow, while a trainer waits for them. Under the lock of {@link Network}. */
final class Silence {
    /** What is to be done about a connection. */
    enum Verdict {
        /** Nothing. */
        LIVES,
        /** It was silent for long: it is asked for a sign of life, by the caller. */
        ASK,
        /** It was asked and has not answered. */
        DEAD
    }

    /** Whether a connection has been heard of while the trainer waits. */
    private static final class Probe {
        private long heardAtNs;
        private Optional<Long> askedAtNs = Optional.empty();
        private long frames = -1;
        private long bytes = -1;

        /** A whole frame, or a good part of a batch: a few stray bytes are no sign of life within a broken frame. */
        boolean heard(Link link, long nowNs) {
            if (link.framesReceived == frames && link.bytesReceived - bytes < 4096) {
                return false;
            }
            frames = link.framesReceived;
            bytes = link.bytesReceived;
            heardAtNs = nowNs;
            askedAtNs = Optional.empty();
            return true;
        }
    }

    private final Timing timing;
    private final Map<Link, Probe> probes = new HashMap<>();

    Silence(Timing timing) {
        this.timing = timing;
    }

    /**
     * Looks at a connection that the trainer waits for.
     *
     * @param others whether another feeder can be turned to, so that less patience is needed
     * @param sinceNs since when the trainer waits
     */
    Verdict verdict(Link link, boolean others, long nowNs, long sinceNs) {
        Probe probe = probes.computeIfAbsent(link, l -> new Probe());
        if (probe.heard(link, nowNs)) {
            return Verdict.LIVES;
        }
        long failoverNs = timing.failover().toNanos();
        if (probe.askedAtNs.isPresent()) {
            long giveUpNs = timing.dead().toNanos();
            boolean isDead = nowNs - probe.askedAtNs.get() >= (others ? Math.min(giveUpNs, failoverNs) : giveUpNs);
            return isDead ? Verdict.DEAD : Verdict.LIVES;
        }
        long askNs = timing.ping().toNanos();
        if (nowNs - Math.max(probe.heardAtNs, sinceNs) < (others ? Math.min(askNs, failoverNs / 2) : askNs)) {
            return Verdict.LIVES;
        }
        probe.askedAtNs = Optional.of(nowNs);
        return Verdict.ASK;
    }

    /** Nanoseconds since something was heard of an awaited connection. */
    long quietNs(Link link, long nowNs) {
        Probe probe = probes.get(link);
        return probe == null ? 0 : nowNs - probe.heardAtNs;
    }

    /** The connection is no more. */
    void forget(Link link) {
        probes.remove(link);
    }
}
