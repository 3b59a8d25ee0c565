package dev.stoker.client.feeder;

import dev.stoker.client.transport.Timing;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One address that a client knows. Guarded by the client's lock. */
final class PooledFeeder {
    String address;
    /** How long the client tries to reach it before it asks another feeder. */
    final long patienceNs;

    /** Null while there is no attempt. */
    @Nullable
    FeederConnection connection;

    long downSinceNs;
    long nextTryNs;
    int attempts;
    /** Whether an attempt or a connection has ended since the client last asked all feeders for a place. */
    boolean answered;
    /** The reason for the end of the last attempt or connection. */
    String error = "";

    /** How often in a row it was connected and gave no sign of life, and the time of the last occasion. */
    private int silences;

    private long silentAtNs;
    /** When to connect to it although it is avoided: a silent feeder may only have been busy. */
    private Optional<Long> askAtNs = Optional.empty();

    PooledFeeder(String address, long nowNs, long patienceNs) {
        this.address = address;
        this.patienceNs = patienceNs;
        this.downSinceNs = nowNs;
        this.nextTryNs = nowNs;
    }

    /**
     * Notes that it is connected but gives no sign of life. The client connects again, and returns its lanes once it
     * answers: the first time immediately, later after a pause that doubles each time, beginning with twice {@link
     * #patienceNs}.
     */
    void silent(Timing timing, long nowNs) {
        long forgiveNs = timing.forgive().toNanos();
        silences = silences > 0 && nowNs - silentAtNs < forgiveNs ? silences + 1 : 1;
        silentAtNs = nowNs;
        long pauseNs = silences == 1 ? 0 : timing.failover().toNanos() << Math.min(silences - 1, 10);
        askAtNs = Optional.of(nowNs + Math.min(pauseNs, forgiveNs));
    }

    /** Whether it is time to connect to it although it is avoided. */
    boolean isToBeAsked(long nowNs) {
        return askAtNs.isPresent() && nowNs - askAtNs.get() >= 0;
    }

    /** Notes that it cannot be reached: it is not busy, but has ended. */
    void gone() {
        askAtNs = Optional.empty();
    }

    /** Notes that a connection has become live. */
    void welcomed() {
        attempts = 0;
        askAtNs = Optional.empty();
    }

    /** The connection, after its WELCOME. */
    Optional<FeederConnection> live() {
        return Optional.ofNullable(connection).filter(FeederConnection::isLive);
    }
}
