package dev.stoker.server.session.group;

import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.Caller;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.Right;
import dev.stoker.server.session.group.Membership.Occupant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Determines which session has each place of one group. See "Places" in docs/formats/feed-protocol.md for the rules. A
 * session keeps its place while it lives. The run and the fences stay after the session has {@linkplain #settle
 * subscribed}. Not thread-safe; the lock of its group guards it.
 */
final class Places {
    /** Maximum number of places, so that invented ranks cannot fill the memory. */
    private static final int MAX_PLACES = 1 << 16;

    private final String group;
    /** Live sessions, by place. */
    private final Map<Claim.Seat, Held> live = new LinkedHashMap<>();
    /** The greatest run that has subscribed at each place. */
    private final Map<Claim.Seat, Long> greatest = new HashMap<>();
    /** The last subscriber at each place in the settled run. */
    private final Map<Claim.Seat, Claim> present = new HashMap<>();
    /** The greatest run that has subscribed, here or at another node. */
    private long settledRun;

    private int settledWorldSize;

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
    record Claim(Seat seat, long run, int worldSize, int workers, Caller caller, Trust trust, String client) {

        /** A trainer's place in its group, whatever the run. */
        record Seat(int rank, int worker, int replica) {}

        /**
         * How far a claim is believed. A client names its process and its launcher itself, and other users of the
         * machine or of the scheduler can know both. So they count only among holders of one token, and for
         * administrators.
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

        static Claim of(Admission admission) {
            Hello hello = admission.hello();
            return new Claim(
                    new Seat(hello.participant().rank(), hello.participant().worker(), hello.replica()),
                    hello.run(),
                    hello.participant().worldSize(),
                    hello.participant().workers(),
                    hello.caller(),
                    new Trust(admission.rights().includes(Right.ADMINISTER), FeedToken.digestText(hello.token())),
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
            return seat.rank() == other.seat.rank()
                    && seat.replica() == other.seat.replica()
                    && workers != other.workers;
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
        String who() {
            String process = caller.instance()
                    .map(instance -> "process " + instance.pid() + " on host " + instance.host())
                    .orElse("a process that does not name itself (" + client + ")");
            return process + " (rank " + seat.rank() + " of " + worldSize
                    + (workers > 1 ? ", worker " + seat.worker() + " of " + workers : "")
                    + (seat.replica() > 0 ? ", replica " + seat.replica() : "") + ")";
        }
    }

    private record Held(Claim claim, long run, Occupant session) {}

    /**
     * A place that was given to a session.
     *
     * @param run the run of the session
     * @param displaced sessions that have lost their places to it; the caller must end them
     */
    record Given(long run, List<Occupant> displaced) {}

    /** @param group stream and name of the group, for messages */
    Places(String group) {
        this.group = group;
    }

    /**
     * Gives a place to a session.
     *
     * @param nowMs wall clock, from which new run numbers are generated
     * @throws ProtocolException if the session is fenced, the place is taken, or the run has another world size
     */
    Given admit(Claim asked, Occupant session, long nowMs) throws ProtocolException {
        Claim claim = ofSameProcess(asked);
        List<Held> beaten = beaten(claim);
        long run = choose(claim, run(), beaten, nowMs);
        for (Held own : select(held -> isReplaced(held, claim, run))) {
            refuseOvertaken(claim, own);
            if (!beaten.contains(own)) {
                beaten.add(own);
            }
        }
        beaten.forEach(held -> live.remove(held.claim().seat(), held));
        live.put(claim.seat(), new Held(claim, run, session));
        return new Given(run, beaten.stream().map(Held::session).toList());
    }

    /**
     * Rejects what {@link #admit} would reject at present because of other processes. Changes nothing.
     *
     * @throws ProtocolException as {@link #admit} does
     */
    void check(Claim asked) throws ProtocolException {
        beaten(ofSameProcess(asked));
    }

    /** Returns whether the user names a run that would take places from other live processes. */
    boolean isDisplacing(Claim claim) {
        return live.values().stream()
                .anyMatch(held -> held.run() < claim.run() && !claim.isOfSameProcess(held.claim()));
    }

    /** Returns the sessions of other processes that lose their places to a claim. */
    private List<Held> beaten(Claim claim) throws ProtocolException {
        long current = run();
        refuseSuperseded(claim, current);
        if (live.size() >= MAX_PLACES) {
            throw new ProtocolException(ErrorCode.INTERNAL, group + " has " + MAX_PLACES + " trainers already");
        }
        // The user has named a greater run, so all smaller runs are over, even if another node learned this first.
        List<Held> beaten = new ArrayList<>(select(held -> held.run() < claim.run()));
        if (claim.run() > current) {
            return beaten;
        }
        List<Held> blocking = select(held -> !beaten.contains(held) && blocks(held, claim));
        List<Held> alive =
                blocking.stream().filter(held -> !held.session().isSilent()).toList();
        if (!alive.stream().allMatch(held -> claim.restarts(held.claim()))) {
            alive.forEach(held -> held.session().ask());
            throw taken(claim, alive.get(0));
        }
        beaten.addAll(blocking);
        return beaten;
    }

    /**
     * Lets a process continue in a newer run that it has itself started at the place, for example with another client.
     */
    private Claim ofSameProcess(Claim claim) {
        Claim last = present.get(claim.seat());
        boolean began = last != null
                && claim.isOfSameProcess(last)
                && claim.caller().joined() < greatest.getOrDefault(claim.seat(), 0L);
        return began && claim.run() == 0 ? claim.withoutRun() : claim;
    }

    private void refuseSuperseded(Claim claim, long current) throws ProtocolException {
        long known = greatest.getOrDefault(claim.seat(), 0L);
        long named = claim.namedRun();
        long newer = claim.run() > 0 ? Math.max(known, begunRun()) : known;
        if (named > 0 && named < newer) {
            throw new ProtocolException(
                    ErrorCode.FENCED,
                    "run " + newer + " has replaced rank "
                            + claim.seat().rank() + " worker " + claim.seat().worker() + " in " + group
                            + "; this trainer belongs to run " + named
                            + ": end it, or let it read in another group (group=\"…\")");
        }
        if (named > 0 && named == current && claim.worldSize() != worldSize()) {
            throw new ProtocolException(
                    ErrorCode.WORLD_SIZE_MISMATCH,
                    "run " + current + " of " + group + " has world size " + worldSize() + ", but this trainer has "
                            + claim.worldSize() + ": start all ranks with one world size, or a new run (STOKER_RUN)");
        }
    }

    /** Returns whether a live session of another process blocks the claim. */
    private boolean blocks(Held held, Claim claim) {
        if (claim.isOfSameProcess(held.claim())) {
            return false;
        }
        boolean isOfOtherSize = claim.worldSize() != worldSize();
        boolean isOfGreater = claim.run() > 0 && held.run() > claim.run();
        return isOfOtherSize
                || isOfGreater
                || held.claim().seat().equals(claim.seat())
                || held.claim().dividesOtherwise(claim)
                || isOtherJob(held.claim(), claim);
    }

    private static boolean isOtherJob(Claim one, Claim other) {
        return one.caller().launch().isPresent()
                && other.caller().launch().isPresent()
                && !one.caller()
                        .launch()
                        .get()
                        .isSameJob(other.caller().launch().get());
    }

    private ProtocolException taken(Claim claim, Held holder) {
        boolean samePlace = holder.claim().seat().equals(claim.seat());
        return new ProtocolException(
                ErrorCode.PLACE_TAKEN,
                group + " is being read by " + holder.claim().who()
                        + (samePlace
                                ? ""
                                : ", and rank " + claim.seat().rank() + " of " + claim.worldSize()
                                        + (claim.workers() > 1 ? " with " + claim.workers() + " workers" : "")
                                        + " does not fit its run")
                        + "; end that process first, or read in another group: group=\"…\"");
    }

    private long choose(Claim claim, long current, List<Held> beaten, long nowMs) {
        if (claim.namedRun() > 0) {
            return claim.namedRun();
        }
        boolean fits = current > 0 && claim.worldSize() == worldSize();
        // A session that was displaced in the current run must not return to it.
        if (fits && beaten.stream().noneMatch(held -> held.run() == current) && goesOn(claim)) {
            return current;
        }
        long known = greatest.getOrDefault(claim.seat(), 0L);
        return Math.max(nowMs, Math.max(current, known) + 1);
    }

    /** Returns whether a claim that fits the current run joins it, rather than starting the next run. */
    private boolean goesOn(Claim claim) {
        if (live.values().stream().anyMatch(held -> !claim.isOfSameProcess(held.claim()))) {
            return true;
        }
        Collection<Claim> own = new ArrayList<>(present.values());
        live.values().forEach(held -> own.add(held.claim()));
        if (own.stream().anyMatch(claim::dividesOtherwise)) {
            return false;
        }
        Claim before = present.get(claim.seat());
        return before == null || claim.isOfSameProcess(before) || !live.isEmpty();
    }

    /** Returns whether a newer session of the same process replaces this session. */
    private boolean isReplaced(Held held, Claim claim, long run) {
        return claim.isOfSameProcess(held.claim())
                && (held.claim().seat().equals(claim.seat())
                        || held.claim().dividesOtherwise(claim)
                        || (held.run() < run && held.claim().worldSize() != claim.worldSize()));
    }

    private static void refuseOvertaken(Claim claim, Held own) throws ProtocolException {
        if (claim.caller().isReplacedBy(own.claim().caller())) {
            throw new ProtocolException(
                    ErrorCode.FENCED, "a later connection of " + claim.who() + " has replaced this one");
        }
    }

    private List<Held> select(Predicate<Held> which) {
        return live.values().stream().filter(which).toList();
    }

    /**
     * Settles a session that has subscribed. Its run becomes the run of the group, and smaller runs are fenced off its
     * place.
     *
     * @throws ProtocolException if there are too many places
     */
    void settle(Claim claim, Occupant session) throws ProtocolException {
        Held held = live.get(claim.seat());
        if (held == null || held.session() != session) {
            return;
        }
        if (greatest.size() >= MAX_PLACES && !greatest.containsKey(claim.seat())) {
            throw new ProtocolException(ErrorCode.INTERNAL, group + " has " + MAX_PLACES + " trainers already");
        }
        learn(held.run(), claim.worldSize());
        greatest.merge(claim.seat(), held.run(), Math::max);
        if (held.run() == settledRun) {
            present.put(claim.seat(), claim);
        }
    }

    /** Removes a session that has ended. */
    void leave(Claim.Seat seat, Occupant session) {
        Held held = live.get(seat);
        if (held != null && held.session() == session) {
            live.remove(seat);
        }
    }

    /** Takes over what another node has seen. */
    void learn(long otherRun, int otherWorldSize) {
        if (otherRun > settledRun) {
            settledRun = otherRun;
            settledWorldSize = otherWorldSize;
            present.clear();
        }
    }

    /** Returns the current run: the greatest that is live or has subscribed; 0 before the first. */
    long run() {
        return Math.max(
                settledRun, live.values().stream().mapToLong(Held::run).max().orElse(0));
    }

    /**
     * Returns the greatest run that a client has started, by subscribing or by naming it. A run number that was
     * generated for a session without a subscription does not count, because the session may never subscribe.
     */
    private long begunRun() {
        return Math.max(
                settledRun,
                live.values().stream()
                        .mapToLong(held -> held.claim().run())
                        .max()
                        .orElse(0));
    }

    /** Returns the world size of the current run. */
    int worldSize() {
        long run = run();
        return live.values().stream()
                .filter(held -> held.run() == run)
                .findFirst()
                .map(held -> held.claim().worldSize())
                .orElse(settledWorldSize);
    }

    /** Returns the greatest run that has subscribed, here or at another node. */
    long settledRun() {
        return settledRun;
    }

    int settledWorldSize() {
        return settledWorldSize;
    }

    /** Returns the number of remembered places. */
    int size() {
        return greatest.size();
    }
}
