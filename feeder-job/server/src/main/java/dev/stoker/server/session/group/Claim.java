package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.Right;
import dev.stoker.server.security.TokenRights;

/**
 * What a HELLO wants of its group.
 *
 * @param seat the place
 * @param run the run that the user named, or 0
 * @param worldSize ranks of its run
 * @param workers loader workers of its rank
 * @param caller the process behind it
 * @param trust how far its word about its process and launcher is believed
 * @param client name and version of the client, for messages about one that does not name its process
 */
public record Claim(MemberId seat, long run, int worldSize, int workers, Caller caller, Trust trust, String client) {

    /**
     * How far a claim is believed. A client names its process and its launcher itself, and other users of the machine
     * or of the scheduler can know both. So they count only among holders of one token, and for administrators.
     *
     * @param administers whether the token may replace trainers of other tokens
     * @param token digest of the token; empty if there is none
     */
    record Trust(boolean administers, String token) {
        /** The trust in a client of a feed without tokens. */
        static final Trust OPEN = new Trust(true, "");

        private boolean reaches(Trust other) {
            return administers || token.equals(other.token);
        }
    }

    public static Claim of(Hello hello, TokenRights rights) {
        return new Claim(
                new MemberId(hello.participant().rank(), hello.participant().worker(), hello.replica()),
                hello.run(),
                hello.participant().worldSize(),
                hello.participant().workers(),
                hello.caller(),
                new Trust(rights.includes(Right.ADMINISTER), FeedToken.digestText(hello.token())),
                hello.client());
    }

    /** The run that it names: the user's, or the one that it was given before; 0 if it has none. */
    long namedRun() {
        return run > 0 ? run : caller.joined();
    }

    /** The same, which leaves the run to the server. */
    Claim withoutRun() {
        return new Claim(seat, 0, worldSize, workers, caller.in(0), trust, client);
    }

    /** Whether both speak for one rank and replica, but divide its batches among another number of workers. */
    boolean dividesOtherwise(Claim other) {
        return seat.rank() == other.seat.rank() && seat.replica() == other.seat.replica() && workers != other.workers;
    }

    /** Whether it is of the same process as an earlier one, and may say so. */
    boolean isOfSameProcess(Claim earlier) {
        return caller.isSame(earlier.caller) && trust.reaches(earlier.trust);
    }

    /** Whether a launcher has started this after the other, as the same job, and this may say so. */
    boolean restarts(Claim other) {
        return trust.reaches(other.trust)
                && caller.launch().isPresent()
                && other.caller.launch().isPresent()
                && caller.launch().get().isLaterThan(other.caller.launch().get());
    }

    /** Who it is, for messages. */
    public String who() {
        String process = caller.instance()
                .map(instance -> "process " + instance.pid() + " on host " + instance.host())
                .orElse("a process that does not name itself (" + client + ")");
        return process + " (rank " + seat.rank() + " of " + worldSize
                + (workers > 1 ? ", worker " + seat.worker() + " of " + workers : "")
                + (seat.replica() > 0 ? ", replica " + seat.replica() : "") + ")";
    }
}
