package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerEnd;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Decides when every group has acknowledged its last epoch. A group is done when, in its newest run, all loader
 * workers of all ranks have acknowledged their last batch of the last epoch.
 *
 * <p>Owned by the coordinator thread.
 */
final class JobEnd {

    /** A group that must finish before the job may end. */
    record Group(String stream, String name) {}

    private final OptionalLong epochs;
    private final Set<Group> declared;
    private final Set<ConsumerEnd> ends = new LinkedHashSet<>();

    /**
     * @param epochs epochs to serve; empty = without end
     * @param declared groups that must finish; empty = every group that has been seen, at least one
     */
    JobEnd(OptionalLong epochs, Collection<Group> declared) {
        this.epochs = epochs;
        this.declared = Set.copyOf(declared);
    }

    void add(Collection<ConsumerEnd> seen) {
        ends.addAll(seen);
    }

    List<ConsumerEnd> ends() {
        return List.copyOf(ends);
    }

    boolean reached() {
        if (epochs.isEmpty()) {
            return false;
        }
        Map<Group, Set<ConsumerEnd>> byGroup = new HashMap<>();
        for (ConsumerEnd end : ends) {
            byGroup.computeIfAbsent(new Group(end.stream(), end.group()), g -> new LinkedHashSet<>())
                    .add(end);
        }
        Set<Group> wanted = declared.isEmpty() ? byGroup.keySet() : declared;
        return !wanted.isEmpty() && wanted.stream().allMatch(g -> done(byGroup.getOrDefault(g, Set.of())));
    }

    private boolean done(Set<ConsumerEnd> group) {
        OptionalLong newest = group.stream().mapToLong(ConsumerEnd::run).max();
        if (newest.isEmpty()) {
            return false;
        }
        Set<ConsumerEnd> last = group.stream()
                .filter(end -> end.run() == newest.getAsLong() && end.epoch() >= epochs.getAsLong() - 1)
                .collect(Collectors.toSet());
        Set<Long> consumers = last.stream()
                .map(end -> (long) end.rank() * end.workers() + end.worker())
                .collect(Collectors.toSet());
        return last.stream().anyMatch(end -> consumers.size() >= (long) end.worldSize() * end.workers());
    }
}
