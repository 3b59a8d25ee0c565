package dev.stoker.client;

import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.protocol.Hello;
import dev.stoker.schemas.text.Units;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Collects the settings of a trainer among the others of its group, see {@link FeedClientBuilder#ranks}. */
public final class RankOptions {
    private Optional<Participant> participant = Optional.empty();
    private int replica;
    private int replicas = 1;
    private OptionalLong run = OptionalLong.empty();

    RankOptions() {}

    RankOptions rank(int rank, int worldSize) {
        participant = Optional.of(Participant.rank(rank, worldSize));
        return this;
    }

    /** Makes this client one of several readers of a rank. Each takes every {@code workers}-th batch. */
    public RankOptions worker(int rank, int worldSize, int worker, int workers) {
        participant = Optional.of(new Participant(rank, worldSize, worker, workers));
        return this;
    }

    /** Makes this client one of several that read the same batches. */
    public RankOptions replica(int number) {
        replica = number;
        return this;
    }

    /** Groups consecutive ranks that get the same batches: tensor and pipeline parallel ranks. */
    public RankOptions replicas(int inARow) {
        replicas = inARow;
        return this;
    }

    /**
     * Sets the launch that this trainer belongs to: at most 2^62, the same on all ranks. By default {@code STOKER_RUN},
     * or the feed decides.
     */
    public RankOptions run(long number) {
        run = OptionalLong.of(number);
        return this;
    }

    /** Returns whether the program has named the rank. */
    boolean isSet() {
        return participant.isPresent();
    }

    int replicas() {
        return replicas;
    }

    void check(List<String> problems) {
        if (replicas > 1 && replica != 0) {
            problems.add("replica and replicas are both set; give only one of them");
        }
    }

    /** Returns the rank and worker of this process, which other replicas may have too. */
    Participant processes(TrainerEnvironment trainer, List<String> problems) {
        try {
            Participant processes = participant.orElseGet(trainer::participant);
            if (replicas > 1 && processes.worldSize() % replicas != 0) {
                problems.add(Units.plural(processes.worldSize(), "rank") + " cannot be divided into groups of "
                        + replicas + " replicas");
            }
            return processes;
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return Participant.rank(0, 1);
        }
    }

    /** Returns the participant of which a process is a replica. */
    Participant participant(Participant processes) {
        return new Participant(
                processes.rank() / replicas, processes.worldSize() / replicas, processes.worker(), processes.workers());
    }

    /** Returns which replica of its participant a process is. */
    int replica(Participant processes) {
        return replicas > 1 ? processes.rank() % replicas : replica;
    }

    long run(TrainerEnvironment trainer) {
        long launched = run.orElseGet(trainer::run);
        if (launched < 0 || launched > Hello.MAX_RUN) {
            throw new IllegalArgumentException("run is " + launched + "; it must be from 0 to 2^62");
        }
        return launched;
    }
}
