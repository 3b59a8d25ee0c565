package dev.stoker.feeder.node.tiers;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.ChunkFile;
import java.util.concurrent.CompletableFuture;

/** One bringing of a chunk from its origin. Fields that change are guarded by {@link Loads}. */
final class Load implements Comparable<Load> {
    /** How urgent it is. */
    enum Need {
        /** Somebody waits for it. */
        NOW,
        /** Somebody will need it. */
        AHEAD,
        /** It is to be placed, and nobody has asked for it. */
        WARM
    }

    final Origin origin;
    final ChunkFile chunk;
    /** A hold for each that waits, or null if the chunk is in a tier now. */
    final CompletableFuture<ChunkBytes> done = new CompletableFuture<>();

    Need need;
    /** Among those of the same need the smallest goes first. */
    long turn;
    /** Whether it is to be placed in any case. */
    boolean warm;

    int waiting;
    boolean started;

    Load(Origin origin, ChunkFile chunk, Need need, long turn) {
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
