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
    /** What ended the last attempt or connection. */
    String error = "";

    Peer(String address, long nowNs, long patienceNs) {
        this.address = address;
        this.patienceNs = patienceNs;
        this.downSinceNs = nowNs;
        this.nextTryNs = nowNs;
    }

    /** The connection, once it was welcomed. */
    Optional<Link> live() {
        return Optional.ofNullable(link).filter(Link::isLive);
    }
}
