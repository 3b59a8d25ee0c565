package dev.stoker.schemas.protocol.parts;

import java.util.Optional;

/**
 * Identifies the sender of a HELLO, and says whether it requests a place in its group.
 *
 * @param joined the run that an earlier WELCOME gave to this client; 0 before the first
 * @param sentNanos when the client sent the HELLO, by the monotonic clock of its machine; 0 if it does not say
 * @param look whether it only looks: it takes no place, and may request no batch
 * @param instance the process that opened the client; empty if it does not say
 * @param launch the job's launch; empty if no launcher is known
 */
public record Caller(long joined, long sentNanos, boolean look, Optional<Instance> instance, Optional<Launch> launch) {
    /** A client that does not identify itself. */
    public static final Caller UNKNOWN = new Caller(0, 0, false, Optional.empty(), Optional.empty());

    public Caller {
        Fields.natural("joined", joined);
        Fields.natural("sent", sentNanos);
    }

    /** Returns whether both are the same process. A caller without an instance is not the same as any other. */
    public boolean isSame(Caller other) {
        return instance.isPresent()
                && other.instance.isPresent()
                && instance.get().isSame(other.instance.get());
    }

    /** Returns the same caller with a HELLO that only looks. */
    public Caller looking() {
        return new Caller(joined, sentNanos, true, instance, launch);
    }

    /** Returns the same caller after it has joined a run. */
    public Caller in(long run) {
        return new Caller(run, sentNanos, look, instance, launch);
    }

    /** Returns the same caller with a HELLO that it sends at this time. */
    public Caller sentAt(long nanos) {
        return new Caller(joined, nanos, look, instance, launch);
    }

    /**
     * Returns whether the other HELLO is a later one of the same process. A server may read the HELLOs of two
     * connections in another order than the process sent them.
     */
    public boolean isReplacedBy(Caller other) {
        return isSame(other) && sentNanos > 0 && sentNanos < other.sentNanos;
    }
}
