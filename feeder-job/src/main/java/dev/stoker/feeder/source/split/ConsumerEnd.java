package dev.stoker.feeder.source.split;

import java.util.Objects;

/**
 * One consumer (a loader worker of a rank) has acknowledged the last batch of its subscription of one epoch. Clients
 * acknowledge in the order of consumption, so this says that all of its batches of the epoch are consumed.
 *
 * @param stream name of the stream
 * @param group name of the group
 * @param run run of the group's trainers
 * @param epoch epoch that is finished
 * @param rank rank of the trainer
 * @param worldSize ranks of the run
 * @param worker loader worker of the rank
 * @param workers loader workers of each rank
 */
public record ConsumerEnd(
        String stream, String group, long run, long epoch, int rank, int worldSize, int worker, int workers) {

    public ConsumerEnd {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(group, "group");
        if (rank < 0 || rank >= worldSize || worker < 0 || worker >= workers) {
            throw new IllegalArgumentException(
                    "no such consumer: rank " + rank + " of " + worldSize + ", worker " + worker + " of " + workers);
        }
    }
}
