package dev.stoker.server.feed;

import java.util.Objects;

/**
 * Who a session speaks for: one trainer process (or loader worker) of one run of a group.
 *
 * @param stream the stream's name
 * @param group the group's name
 * @param run the launch of the group's trainers; a greater run fences a smaller one of the same rank, worker and
 *     replica
 * @param rank the trainer's rank, below {@code worldSize}
 * @param worldSize ranks of the run
 * @param worker the loader worker, below {@code workers}
 * @param workers loader workers of this rank
 * @param replica copies of one rank that receive the same batches and never fence each other
 */
public record Identity(
        String stream, String group, long run, int rank, int worldSize, int worker, int workers, int replica) {
    public Identity {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(group, "group");
        if (run < 0) {
            throw new IllegalArgumentException("run " + run + " is negative");
        }
        if (worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("rank " + rank + " is not within world size " + worldSize);
        }
        if (workers < 1 || worker < 0 || worker >= workers) {
            throw new IllegalArgumentException("worker " + worker + " is not within " + workers + " workers");
        }
        if (replica < 0) {
            throw new IllegalArgumentException("replica " + replica + " is negative");
        }
    }

    @Override
    public String toString() {
        return stream + "/" + group + " rank " + rank + "/" + worldSize + " worker " + worker + "/" + workers
                + " replica " + replica + " run " + run;
    }
}
