package dev.stoker.server.feed;

import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * What a feed serves.
 *
 * @param id the feed's id; a node serves one feed and answers no other
 * @param name the feed's name
 * @param streams at least one, names distinct; the first is the one of trainers that name none
 * @param order the default order spec as JSON; keys left out have their defaults
 * @param groups groups that the feed waits for before it ends; may be empty
 * @param epochs epochs after which a group is done; empty for no limit
 * @param onCorrupt what happens on damage that reading again does not heal
 */
public record FeedSpec(
        UUID id,
        String name,
        List<StreamSpec> streams,
        String order,
        List<GroupSpec> groups,
        OptionalLong epochs,
        OnCorrupt onCorrupt) {
    public FeedSpec {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(order, "order");
        Objects.requireNonNull(epochs, "epochs");
        Objects.requireNonNull(onCorrupt, "onCorrupt");
        streams = List.copyOf(streams);
        groups = List.copyOf(groups);
        if (streams.isEmpty()) {
            throw new IllegalArgumentException("feed " + name + " has no stream");
        }
        Set<String> names = new HashSet<>();
        for (StreamSpec stream : streams) {
            if (!names.add(stream.name())) {
                throw new IllegalArgumentException("feed " + name + ": two streams are called " + stream.name()
                        + "; give one another name (name=path)");
            }
        }
        for (GroupSpec group : groups) {
            if (!names.contains(group.stream())) {
                throw new IllegalArgumentException("feed " + name + ": group " + group.group() + " is of stream "
                        + group.stream() + ", which it lacks");
            }
        }
        if (epochs.isPresent() && epochs.getAsLong() < 1) {
            throw new IllegalArgumentException("feed " + name + ": epochs " + epochs.getAsLong() + " is not positive");
        }
    }

    /** Returns whether the end of the feed depends on a group. */
    public boolean awaits(GroupName group) {
        return epochs.isPresent() && (groups.isEmpty() || groups.contains(new GroupSpec(group.stream(), group.name())));
    }

    /** The first 8 bytes of the id, which every batch message carries. */
    public long tag() {
        return id.getMostSignificantBits();
    }
}
