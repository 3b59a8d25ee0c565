package dev.stoker.feeder.node.server;

import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ProtocolException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Who may speak for a seat of one group: the session of the greatest run, and among those the newest. Replicas are seats of
 * their own. Not thread-safe; its group's lock guards it.
 */
final class Fences {
    /** Seats beyond this are refused, so that made-up ranks cannot fill the memory. */
    private static final int MAX_SEATS = 1 << 16;

    private final String group;
    private final Map<Seat, Long> greatest = new HashMap<>();
    private final Map<Seat, Session> sessions = new HashMap<>();
    private final Set<Seat> present = new HashSet<>();
    private long run;
    private int worldSize;

    /** @param group stream and name, for messages */
    Fences(String group) {
        this.group = group;
    }

    /**
     * Decides which run a trainer belongs to.
     *
     * @param asked the run it names, or 0
     * @param world its world size
     * @param nowMs wall clock, from which new run numbers are drawn
     * @throws ProtocolException if it is fenced, or its run has another world size
     */
    long admit(Seat seat, long asked, int world, long nowMs) throws ProtocolException {
        long known = greatest.getOrDefault(seat, 0L);
        long chosen = asked;
        if (asked == 0) {
            boolean joins = run > 0 && worldSize == world && !present.contains(seat) && known <= run;
            chosen = joins ? run : Math.max(nowMs, Math.max(run, known) + 1);
        }
        if (chosen < known) {
            throw new ProtocolException(
                    ErrorCode.FENCED,
                    "rank " + seat.rank() + " worker " + seat.worker() + " of " + group + " was taken over by run "
                            + known + "; this is run " + chosen + ": end this trainer, the newer one goes on");
        }
        if (chosen == run && world != worldSize) {
            throw new ProtocolException(
                    ErrorCode.WORLD_SIZE_MISMATCH,
                    "run " + run + " of " + group + " has world size " + worldSize + ", this trainer says " + world
                            + ": start all ranks with one world size, or a new run (STOKER_RUN)");
        }
        if (known == 0 && greatest.size() >= MAX_SEATS) {
            throw new ProtocolException(ErrorCode.INTERNAL, group + " has " + MAX_SEATS + " trainers already");
        }
        if (chosen > run) {
            run = chosen;
            worldSize = world;
            present.clear();
        }
        if (chosen == run) {
            present.add(seat);
        }
        greatest.put(seat, chosen);
        return chosen;
    }

    /** Whether a run is greater than that of the session which has the seat. */
    boolean isDisplacing(Seat seat, long asked) {
        return sessions.containsKey(seat) && asked > greatest.getOrDefault(seat, 0L);
    }

    /** Gives the seat to a session; the one that had it is returned, to be ended, or null. */
    Session seat(Seat seat, Session session) {
        return sessions.put(seat, session);
    }

    /** The session has ended. */
    void leave(Seat seat, Session session) {
        sessions.remove(seat, session);
    }

    /** Takes over what another node has seen. */
    void learn(long otherRun, int otherWorldSize) {
        if (otherRun > run) {
            run = otherRun;
            worldSize = otherWorldSize;
            present.clear();
        }
    }

    long run() {
        return run;
    }

    int worldSize() {
        return worldSize;
    }
}
