package dev.stoker.schemas.order.delivery;

/**
 * Identifies a trainer among those that share a pass: rank of a world, worker of a rank, as in PyTorch.
 *
 * @param rank 0 … worldSize-1
 * @param worldSize at least 1
 * @param worker 0 … workers-1; 0 without loader processes
 * @param workers at least 1
 */
public record Participant(int rank, int worldSize, int worker, int workers) {
    public Participant {
        if (worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException(
                    "rank " + rank + " of world size " + worldSize + ": ranks go from 0 to the world size less one");
        }
        if (workers < 1 || worker < 0 || worker >= workers) {
            throw new IllegalArgumentException(
                    "worker " + worker + " of " + workers + ": workers go from 0 to their number less one");
        }
        if ((long) worldSize * workers > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    "world size " + worldSize + " times " + workers + " workers: at most 2^31-1 together");
        }
    }

    /** Creates a rank without loader processes. */
    public static Participant rank(int rank, int worldSize) {
        return new Participant(rank, worldSize, 0, 1);
    }

    /** Returns the distance between two numbers of this participant. */
    public int stride() {
        return worldSize * workers;
    }
}
