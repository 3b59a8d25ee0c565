package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Contains the assigned numbers of one epoch, by run. */
final class EpochClaims {

    /** Maps consumer and residue to the assigned numbers, for one run and stride. */
    private record Track(Consumer consumer, Grid grid, long residue, TailPolicy tail) {}

    /** How the ranks of a run divide an epoch. */
    private record Grid(long stride, SkippedBatches skipped) {}

    private static final class Run {
        final Map<Track, AssignedSlots> claims = new HashMap<>();
        /** The batches that the run's consumers leave out. */
        final Set<SkippedBatches> skipped = new HashSet<>();
        /** Claims by grid, then by residue. */
        final Map<Grid, Map<Long, List<AssignedSlots>>> index = new HashMap<>();

        void index() {
            for (AssignedSlots claim : claims.values()) {
                index.computeIfAbsent(new Grid(claim.stride(), claim.skipped()), s -> new HashMap<>())
                        .computeIfAbsent(claim.residue(), r -> new ArrayList<>(1))
                        .add(claim);
            }
            start = findStart(Map.of());
        }

        List<AssignedSlots> covering(long number) {
            List<AssignedSlots> found = List.of();
            for (Map.Entry<Grid, Map<Long, List<AssignedSlots>>> entry : index.entrySet()) {
                Grid grid = entry.getKey();
                long residue = grid.skipped.slot(number) % grid.stride;
                for (AssignedSlots claim : entry.getValue().getOrDefault(residue, List.of())) {
                    if (claim.covers(number)) {
                        found = found.isEmpty() ? new ArrayList<>(1) : found;
                        found.add(claim);
                    }
                }
            }
            return found;
        }

        /** Returns whether the run leaves out a number that is not before its beginning. */
        boolean skips(long number) {
            return skipped.stream().anyMatch(s -> s.contains(number) && s.slot(number) >= s.slot(start));
        }

        /** Position at which the run began in this epoch; a lower bound if not all of its trainers are known. */
        long start;

        private long findStart(Map<Consumer, Long> others) {
            Map<Consumer, Long> starts = new HashMap<>(others);
            claims.values().forEach(claim -> starts.merge(claim.consumer(), claim.leastStart(), Math::min));
            return starts.values().stream().max(Comparator.naturalOrder()).orElse(0L);
        }
    }

    /** Runs, greatest first. */
    private final NavigableMap<Long, Run> runs = new TreeMap<>(Comparator.reverseOrder());

    private boolean indexed;
    private long last;

    void add(AssignedSlots claim) {
        Run run = runs.computeIfAbsent(claim.consumer().run(), r -> new Run());
        run.claims.merge(
                new Track(claim.consumer(), new Grid(claim.stride(), claim.skipped()), claim.residue(), claim.tail()),
                claim,
                AssignedSlots::with);
        skip(claim.consumer(), claim.skipped());
    }

    /** Records the batches that a consumer leaves out. */
    void skip(Consumer consumer, SkippedBatches skipped) {
        Run run = runs.computeIfAbsent(consumer.run(), r -> new Run());
        if (!skipped.isEmpty()) {
            run.skipped.add(skipped);
        }
    }

    private void index() {
        if (!indexed) {
            indexed = true;
            runs.values().forEach(Run::index);
            last = runs.values().stream()
                    .flatMap(run -> run.claims.values().stream())
                    .mapToLong(AssignedSlots::lastNumber)
                    .max()
                    .orElse(-1);
        }
    }

    Collection<Long> runs() {
        return runs.keySet();
    }

    long greatestRun() {
        return runs.firstKey();
    }

    /**
     * Returns the position at which a run began in this epoch.
     *
     * @param others least starts of its consumers that requested nothing of the epoch
     */
    long start(long run, Map<Consumer, Long> others) {
        index();
        Run begun = Objects.requireNonNull(runs.get(run), "a run begins with a claim");
        return others.isEmpty() ? begun.start : begun.findStart(others);
    }

    /** Returns the greatest assigned number. */
    long last() {
        index();
        return last;
    }

    /** Returns the claims of the greatest run to which this number was assigned; empty if there is none. */
    List<AssignedSlots> responsible(long number) {
        index();
        for (Run run : runs.values()) {
            List<AssignedSlots> found = run.covering(number);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Returns the run that leaves out this number, if that is the last decision about it. */
    OptionalLong skippedBy(long number) {
        index();
        for (Map.Entry<Long, Run> run : runs.entrySet()) {
            if (run.getValue().skips(number)) {
                return OptionalLong.of(run.getKey());
            }
            if (!run.getValue().covering(number).isEmpty()) {
                return OptionalLong.empty();
            }
        }
        return OptionalLong.empty();
    }

    /** Returns the rank of each run that had to read a number, whether it subscribed or not; greatest run first. */
    List<Owner> owners(long number) {
        index();
        List<Owner> owners = new ArrayList<>(runs.size());
        runs.forEach((run, claimed) -> {
            if (!claimed.claims.isEmpty() && number >= claimed.start) {
                AssignedSlots any = claimed.claims.values().iterator().next();
                long slot = any.skipped().slot(number);
                owners.add(new Owner(run, (int) (slot % any.consumer().worldSize())));
            }
        });
        return owners;
    }

    /** A rank of a run. */
    record Owner(long run, int rank) {}

    /** Returns the claim by which a consumer was assigned a number; null if there is none. */
    @Nullable
    AssignedSlots of(Consumer consumer, long number) {
        index();
        Run run = runs.get(consumer.run());
        if (run != null) {
            for (AssignedSlots claim : run.covering(number)) {
                if (claim.consumer().equals(consumer)) {
                    return claim;
                }
            }
        }
        return null;
    }

    /**
     * Returns the first number that goes to no rank because the newest run drops the tail.
     *
     * @param standing the newest run that requested nothing of the epoch
     */
    long leftOutFrom(EpochSize size, Optional<PassState.Standing> standing) {
        index();
        // Of a run that requested batches, those that requested nothing say nothing more.
        Optional<Map.Entry<Long, Run>> newest = runs.entrySet().stream()
                .filter(run -> !run.getValue().claims.isEmpty())
                .findFirst();
        if (standing.isPresent()
                && newest.map(run -> run.getKey() < standing.get().consumer().run())
                        .orElse(false)) {
            PassState.Standing at = standing.get();
            return leftOutFrom(size, at.tail(), at.skipped(), at.consumer(), at.least());
        }
        if (newest.isEmpty()) {
            return Long.MAX_VALUE;
        }
        Run run = newest.get().getValue();
        AssignedSlots any = run.claims.values().iterator().next();
        return leftOutFrom(size, any.tail(), any.skipped(), any.consumer(), run.start);
    }

    private static long leftOutFrom(
            EpochSize size, TailPolicy tail, SkippedBatches skipped, Consumer consumer, long begun) {
        if (tail != TailPolicy.DROP) {
            return Long.MAX_VALUE;
        }
        long world = consumer.worldSize();
        long start = skipped.slot(begun);
        return skipped.number(start + Math.max(0, skipped.wholeBatches(size) - start) / world * world);
    }
}
