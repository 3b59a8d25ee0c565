package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.NewestProgress;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Decides when all subscribers have finished the last epoch. Each replica of a group passes over each stream
 * separately. A pass is done when, in its newest run, all loader workers of all ranks have acknowledged their
 * last batch of the last epoch; the runs before were replaced.
 *
 * <p>Owned by the coordinator thread.
 */
final class JobEnd {

    private record Pass(GroupName group, int replica) {
        static Pass of(Identity consumer) {
            return new Pass(GroupName.of(consumer), consumer.replica());
        }
    }

    private final OptionalLong epochs;
    private final Set<GroupName> declared;
    private final NewestProgress progress = new NewestProgress();

    /**
     * @param epochs epochs to serve; empty = without end
     * @param declared groups that alone must finish; empty = every group that has subscribed, at least one
     */
    JobEnd(OptionalLong epochs, Collection<GroupName> declared) {
        this.epochs = epochs;
        this.declared = Set.copyOf(declared);
    }

    void add(Collection<ConsumerProgress> seen) {
        progress.addAll(seen);
    }

    List<ConsumerProgress> progress() {
        return progress.all();
    }

    /** Whether a stream counts to which nobody has subscribed yet. */
    boolean waitsFor(Collection<StreamLanes> streams) {
        if (epochs.isEmpty() || !declared.isEmpty()) {
            return false;
        }
        Set<String> read = new HashSet<>();
        progress.all().forEach(known -> read.add(known.consumer().stream()));
        return streams.stream().anyMatch(stream -> !read.contains(stream.name()));
    }

    /** Whether the feed waits for a group at all. */
    boolean counts(GroupName group) {
        return declared.isEmpty() || declared.contains(group);
    }

    /** Whether every rank and every loader worker has finished. */
    boolean reached() {
        if (epochs.isEmpty()) {
            return false;
        }
        Map<Pass, Set<ConsumerProgress>> passes = new HashMap<>();
        Set<GroupName> groups = new HashSet<>();
        for (ConsumerProgress known : progress.all()) {
            Pass pass = Pass.of(known.consumer());
            if (counts(pass.group())) {
                passes.computeIfAbsent(pass, p -> new HashSet<>()).add(known);
                groups.add(pass.group());
            }
        }
        return !passes.isEmpty()
                && groups.containsAll(declared)
                && passes.values().stream().allMatch(this::isDone);
    }

    private boolean isDone(Set<ConsumerProgress> pass) {
        long newest =
                pass.stream().mapToLong(known -> known.consumer().run()).max().orElseThrow();
        Map<Integer, Set<ConsumerProgress>> ranks = new HashMap<>();
        int worldSize = 0;
        for (ConsumerProgress known : pass) {
            if (known.consumer().run() == newest) {
                worldSize = known.consumer().worldSize();
                ranks.computeIfAbsent(known.consumer().rank(), r -> new HashSet<>())
                        .add(known);
            }
        }
        return ranks.size() == worldSize && ranks.values().stream().allMatch(this::isRankDone);
    }

    /** Whether all workers have finished; an earlier iteration of the run may have had another number of them. */
    private boolean isRankDone(Set<ConsumerProgress> rank) {
        Map<Integer, Integer> finished = new HashMap<>();
        for (ConsumerProgress known : rank) {
            if (known.epochs() >= epochs.getAsLong()) {
                finished.merge(known.consumer().workers(), 1, Integer::sum);
            }
        }
        return finished.entrySet().stream().anyMatch(entry -> entry.getValue() >= entry.getKey());
    }
}
