package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.server.feed.Identity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Whether all ranks of a pass have finished its last epoch. The newest run says how many ranks the pass has. Each rank
 * must have finished in the newest run in which it has subscribed, with all its loader workers. That is an older run if
 * a feeder and another rank died: the other rank may have begun a new run before this one returned.
 */
enum PassEnd {
    /** A rank or a loader worker has not finished. */
    NONE,
    /** All have finished, but not all in the newest run. */
    SPREAD,
    /** All have finished in the newest run. */
    WHOLE;

    private static final Comparator<ConsumerProgress> BY_RUN =
            Comparator.comparingLong(known -> known.consumer().run());

    /**
     * Returns how far a pass is.
     *
     * @param pass the newest progress at each place; not empty
     * @param epochs epochs that a loader worker must have finished
     */
    static PassEnd of(Collection<ConsumerProgress> pass, long epochs) {
        Identity newest = pass.stream().max(BY_RUN).orElseThrow().consumer();
        Map<Integer, List<ConsumerProgress>> ranks = new HashMap<>();
        for (ConsumerProgress known : pass) {
            // A run with another world size was replaced with all its ranks.
            if (known.consumer().worldSize() == newest.worldSize()) {
                ranks.computeIfAbsent(known.consumer().rank(), r -> new ArrayList<>())
                        .add(known);
            }
        }
        if (ranks.size() < newest.worldSize()) {
            return NONE;
        }
        return ranks.values().stream()
                .map(rank -> ofRank(rank, epochs, newest.run()))
                .min(Comparator.naturalOrder())
                .orElseThrow();
    }

    /** Returns whether all workers of a rank have finished. Iterations of a run may have different numbers of them. */
    private static PassEnd ofRank(List<ConsumerProgress> rank, long epochs, long newestRun) {
        long ownRun = rank.stream().max(BY_RUN).orElseThrow().consumer().run();
        PassEnd end = NONE;
        for (ConsumerProgress own : rank) {
            int workers = own.consumer().workers();
            List<ConsumerProgress> finished = rank.stream()
                    .filter(known -> known.consumer().workers() == workers && known.epochs() >= epochs)
                    .toList();
            if (own.consumer().run() == ownRun && finished.size() >= workers) {
                boolean isWhole =
                        finished.stream().allMatch(known -> known.consumer().run() == newestRun);
                if (isWhole) {
                    return WHOLE;
                }
                end = SPREAD;
            }
        }
        return end;
    }
}
