package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import java.util.concurrent.CompletableFuture;

/** One load of a chunk from its origin. {@link Loads} guards the fields that change. */
final class Load implements Comparable<Load> {
    /** How urgent a load is. */
    enum Need {
        /** A reader waits for the chunk. */
        NOW,
        /** A reader will need the chunk. */
        AHEAD,
        /** The chunk should be placed in a tier, although nobody has requested it. */
        WARM
    }

    final Origin origin;
    final ListedChunk chunk;
    /** Completes with a hold for each waiting reader, or with null if the chunk is in a tier now. */
    final CompletableFuture<ChunkBytes> done = new CompletableFuture<>();

    Need need;
    /** Among loads of the same need, the one with the smallest turn is first. */
    long turn;
    /** Whether the chunk should be placed in a tier even if nobody requests it. */
    boolean warm;

    int waiting;
    boolean started;

    Load(Origin origin, ListedChunk chunk, Need need, long turn) {
        this.origin = origin;
        this.chunk = chunk;
        this.need = need;
        this.turn = turn;
    }

    @Override
    public int compareTo(Load other) {
        int byNeed = need.compareTo(other.need);
        int byTurn = byNeed != 0 ? byNeed : Long.compare(turn, other.turn);
        return byTurn != 0 ? byTurn : chunk.id().compareTo(other.chunk.id());
    }

    @Override
    public boolean equals(Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
