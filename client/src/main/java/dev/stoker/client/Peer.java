package dev.stoker.client;

import java.util.Optional;

/** One address that a client knows. Guarded by the client's lock. */
final class Peer {
    String address;
    /** Without reaching it, until another is asked. */
    final long patienceNs;

    /** Null while there is no attempt. */
    Link link;

    long downSinceNs;
    long nextTryNs;
    int attempts;
    /** Whether an attempt or a connection has ended since the client last asked all feeders for a place. */
    boolean answered;
    /** What ended the last attempt or connection. */
    String error = "";

    /** Times in a row that it was live and gave no sign of life, and when it was so last. */
    private int silences;

    private long silentAtNs;
    /** When it is dialled although it is avoided: what was silent may only have been busy. */
    private Optional<Long> askAtNs = Optional.empty();

    Peer(String address, long nowNs, long patienceNs) {
        this.address = address;
        this.patienceNs = patienceNs;
        this.downSinceNs = nowNs;
        this.nextTryNs = nowNs;
    }

    /**
     * It is live and gives no sign of life. It is dialled again, and gets its lanes back once it answers: at once the first time,
     * then after twice the time until another feeder is asked, and so on.
     */
    void silent(Timing timing, long nowNs) {
        long forgiveNs = timing.forgive().toNanos();
        silences = silences > 0 && nowNs - silentAtNs < forgiveNs ? silences + 1 : 1;
        silentAtNs = nowNs;
        long pauseNs = silences == 1 ? 0 : timing.failover().toNanos() << Math.min(silences - 1, 10);
        askAtNs = Optional.of(nowNs + Math.min(pauseNs, forgiveNs));
    }

    /** Whether it is time to dial it although it is avoided. */
    boolean isToBeAsked(long nowNs) {
        return askAtNs.isPresent() && nowNs - askAtNs.get() >= 0;
    }

    /** It cannot be reached, so that it is not busy, but gone. */
    void gone() {
        askAtNs = Optional.empty();
    }

    /** A connection has become live. */
    void welcomed() {
        attempts = 0;
        askAtNs = Optional.empty();
    }

    /** The connection, once it was welcomed. */
    Optional<Link> live() {
        return Optional.ofNullable(link).filter(Link::isLive);
    }
}
