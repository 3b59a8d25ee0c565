package dev.stoker.schemas.protocol;

import java.util.Optional;

/**
 * Identifies the sender of a HELLO, and says whether it requests a place in its group.
 *
 * @param joined the run that an earlier WELCOME gave to this client; 0 before the first
 * @param look whether it only looks: it takes no place, and may request no batch
 * @param instance the process that opened the client; empty if it does not say
 * @param launch the job's launch; empty if no launcher is known
 */
public record Caller(long joined, boolean look, Optional<Instance> instance, Optional<Launch> launch) {
    /** A client that does not identify itself. */
    public static final Caller UNKNOWN = new Caller(0, false, Optional.empty(), Optional.empty());

    public Caller {
        Fields.natural("joined", joined);
    }

    /** Returns whether both are the same process. A caller without an instance is not the same as any other. */
    public boolean isSame(Caller other) {
        return instance.isPresent()
                && other.instance.isPresent()
                && instance.get().isSame(other.instance.get());
    }

    /** Returns the same caller with a HELLO that only looks. */
    public Caller looking() {
        return new Caller(joined, true, instance, launch);
    }

    /** Returns the same caller after it has joined a run. */
    public Caller in(long run) {
        return new Caller(run, look, instance, launch);
    }
}
