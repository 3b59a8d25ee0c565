package dev.stoker.metadata.audit;

import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.TailPolicy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Contains the assigned numbers of one epoch, by run. */
final class EpochClaims {

    /** Maps consumer and residue to the assigned numbers, for one run and stride. */
    private record Track(Consumer consumer, long stride, long residue, TailPolicy tail) {}

    private static final class Run {
        final Map<Track, Claim> claims = new HashMap<>();
        /** Claims by stride, then by residue. */
        final Map<Long, Map<Long, List<Claim>>> index = new HashMap<>();

        void index() {
            for (Claim claim : claims.values()) {
                index.computeIfAbsent(claim.stride(), s -> new HashMap<>())
                        .computeIfAbsent(claim.residue(), r -> new ArrayList<>(1))
                        .add(claim);
            }
            start = findStart(Map.of());
        }

        List<Claim> covering(long number) {
            List<Claim> found = List.of();
            for (Map.Entry<Long, Map<Long, List<Claim>>> stride : index.entrySet()) {
                for (Claim claim : stride.getValue().getOrDefault(number % stride.getKey(), List.of())) {
                    if (claim.covers(number)) {
                        found = found.isEmpty() ? new ArrayList<>(1) : found;
                        found.add(claim);
                    }
                }
            }
            return found;
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

    void add(Claim claim) {
        Run run = runs.computeIfAbsent(claim.consumer().run(), r -> new Run());
        run.claims.merge(
                new Track(claim.consumer(), claim.stride(), claim.residue(), claim.tail()), claim, Claim::with);
    }

    private void index() {
        if (!indexed) {
            indexed = true;
            runs.values().forEach(Run::index);
            last = runs.values().stream()
                    .flatMap(run -> run.claims.values().stream())
                    .mapToLong(Claim::last)
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
    List<Claim> responsible(long number) {
        index();
        for (Run run : runs.values()) {
            List<Claim> found = run.covering(number);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    /** Returns the claim by which a consumer was assigned a number; null if there is none. */
    @Nullable
    Claim of(Consumer consumer, long number) {
        index();
        Run run = runs.get(consumer.run());
        if (run != null) {
            for (Claim claim : run.covering(number)) {
                if (claim.consumer().equals(consumer)) {
                    return claim;
                }
            }
        }
        return null;
    }

    /** Returns the first number that goes to no rank because the newest run drops the tail. */
    long leftOutFrom(EpochSize size) {
        index();
        Run newest = runs.firstEntry().getValue();
        Claim any = newest.claims.values().iterator().next();
        if (any.tail() != TailPolicy.DROP) {
            return Long.MAX_VALUE;
        }
        long world = any.consumer().worldSize();
        long start = newest.start;
        return start + Math.max(0, size.wholeBatches() - start) / world * world;
    }
}
