package dev.stoker.client.feeder;

import dev.stoker.client.transport.Timing;
import dev.stoker.schemas.protocol.Frame.Ping;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Tells silent feeders from slow ones while a trainer waits for them. Guarded by the client's lock. */
final class LivenessCheck {
    /** The action for a connection. */
    enum Verdict {
        /** No action. */
        LIVES,
        /** The connection was silent for long: the caller asks it for a sign of life. */
        ASK,
        /** The connection was asked and has not answered. */
        DEAD
    }

    /** Signs of life on one connection while the trainer waits. */
    private static final class Probe {
        private long heardAtNs;
        private Optional<Long> askedAtNs = Optional.empty();
        private long frames = -1;
        private long bytes = -1;

        /**
         * Whether a whole frame or a large part of a batch has arrived. A few bytes of an incomplete frame are no sign
         * of life.
         */
        boolean heard(FeederConnection connection, long nowNs) {
            if (connection.framesReceived() == frames && connection.bytesReceived() - bytes < 4096) {
                return false;
            }
            frames = connection.framesReceived();
            bytes = connection.bytesReceived();
            heardAtNs = nowNs;
            askedAtNs = Optional.empty();
            return true;
        }
    }

    private final Timing timing;
    private final Map<FeederConnection, Probe> probes = new HashMap<>();
    private long pings;

    LivenessCheck(Timing timing) {
        this.timing = timing;
    }

    /**
     * Looks at a connection that the trainer waits for.
     *
     * @param others whether another feeder can serve, so that less patience is needed
     * @param sinceNs since when the trainer waits
     */
    Verdict verdict(FeederConnection connection, boolean others, long nowNs, long sinceNs) {
        Probe probe = probes.computeIfAbsent(connection, l -> new Probe());
        if (probe.heard(connection, nowNs)) {
            return Verdict.LIVES;
        }
        long failoverNs = timing.failover().toNanos();
        if (probe.askedAtNs.isPresent()) {
            long deadNs = timing.dead().toNanos();
            boolean isDead = nowNs - probe.askedAtNs.get() >= (others ? Math.min(deadNs, failoverNs) : deadNs);
            return isDead ? Verdict.DEAD : Verdict.LIVES;
        }
        long askNs = timing.ping().toNanos();
        if (nowNs - Math.max(probe.heardAtNs, sinceNs) < (others ? Math.min(askNs, failoverNs / 2) : askNs)) {
            return Verdict.LIVES;
        }
        probe.askedAtNs = Optional.of(nowNs);
        return Verdict.ASK;
    }

    /** Sends a PING, and returns its number. */
    long ping(FeederConnection connection) {
        pings++;
        connection.send(new Ping(pings));
        return pings;
    }

    /** Nanoseconds since the last sign of life on an awaited connection. */
    long quietNs(FeederConnection connection, long nowNs) {
        Probe probe = probes.get(connection);
        return probe == null ? 0 : nowNs - probe.heardAtNs;
    }

    /** Forgets a connection that has ended. */
    void forget(FeederConnection connection) {
        probes.remove(connection);
    }
}
