package dev.stoker.feeder.simulation;

import dev.stoker.schemas.order.delivery.Position;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What the model of a training group has learned: which trainer consumed each batch. Only the thread of the simulation
 * uses it.
 */
final class LearnedBatches {
    private record Batch(int replica, long epoch, long number) implements Comparable<Batch> {
        @Override
        public int compareTo(Batch other) {
            int byReplica = Integer.compare(replica, other.replica);
            int byEpoch = Long.compare(epoch, other.epoch);
            return byReplica != 0 ? byReplica : byEpoch != 0 ? byEpoch : Long.compare(number, other.number);
        }

        /** Returns whether a model that resumes at the checkpoint learns it again. */
        boolean isAfter(Position checkpoint) {
            return epoch > checkpoint.epoch() || (epoch == checkpoint.epoch() && number >= checkpoint.batch());
        }
    }

    private final Map<Batch, Trainer> learned = new TreeMap<>();

    /** Adds a batch that a trainer has consumed. Fails if the model has learned it before. */
    void add(Trainer trainer, long epoch, long number) {
        Trainer other = learned.put(new Batch(trainer.replica, epoch, number), trainer);
        if (other != null) {
            throw new AssertionError(trainer + " consumed epoch " + epoch + " number " + number + ", as did " + other);
        }
    }

    /** Drops what all trainers have learned since the checkpoint. */
    void rollBack(Position checkpoint) {
        rollBack(checkpoint, entry -> true);
    }

    /** Drops what one trainer has learned since the checkpoint. */
    void rollBack(Position checkpoint, Trainer trainer, int worldSize) {
        rollBack(
                checkpoint,
                entry -> entry.getKey().replica == trainer.replica
                        && entry.getKey().number % worldSize == trainer.participant.rank()
                        && entry.getValue().participant.equals(trainer.participant));
    }

    private void rollBack(Position checkpoint, Predicate<Map.Entry<Batch, Trainer>> isIts) {
        learned.entrySet().removeIf(entry -> entry.getKey().isAfter(checkpoint) && isIts.test(entry));
    }

    /**
     * Fails unless each replica has learned each batch of each epoch.
     *
     * @param batches number of batches of an epoch that must have been learned
     * @param group names the group in the failure
     */
    void requireComplete(int replicas, long epochs, long batches, String group) {
        for (int replica = 0; replica < replicas; replica++) {
            for (long epoch = 0; epoch < epochs; epoch++) {
                for (long number = 0; number < batches; number++) {
                    if (!learned.containsKey(new Batch(replica, epoch, number))) {
                        throw new AssertionError("replica " + replica + " of " + group + " never consumed epoch "
                                + epoch + " number " + number);
                    }
                }
            }
        }
    }
}
