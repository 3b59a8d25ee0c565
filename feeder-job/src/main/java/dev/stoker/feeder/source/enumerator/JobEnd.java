package dev.stoker.feeder.source.enumerator;

import dev.stoker.feeder.source.split.ConsumerProgress;
import dev.stoker.feeder.source.split.NewestProgress;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Decides when all subscribers have finished the last epoch. Each replica of a group passes over each stream
 * separately; {@link PassEnd} says when a pass is done.
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

    /** Whether every rank and every loader worker has finished, each in its newest run. */
    boolean reached() {
        return end() != PassEnd.NONE;
    }

    /**
     * Whether ranks have {@linkplain #reached() finished} in different runs. Either some ranks stayed in the older run,
     * or the whole group was started again and some ranks have not subscribed in the newer run yet.
     */
    boolean isSpread() {
        return end() == PassEnd.SPREAD;
    }

    /** Returns the end of all passes that count. */
    private PassEnd end() {
        if (epochs.isEmpty()) {
            return PassEnd.NONE;
        }
        Map<Pass, List<ConsumerProgress>> passes = new HashMap<>();
        Set<GroupName> groups = new HashSet<>();
        for (ConsumerProgress known : progress.all()) {
            Pass pass = Pass.of(known.consumer());
            if (counts(pass.group())) {
                passes.computeIfAbsent(pass, p -> new ArrayList<>()).add(known);
                groups.add(pass.group());
            }
        }
        if (!groups.containsAll(declared)) {
            return PassEnd.NONE;
        }
        return passes.values().stream()
                .map(pass -> PassEnd.of(pass, epochs.getAsLong()))
                .min(Comparator.naturalOrder())
                .orElse(PassEnd.NONE);
    }
}
