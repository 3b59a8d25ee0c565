package dev.stoker.server.session;

import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.server.feed.GroupName;
import dev.stoker.server.feed.Identity;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The consumers that the end of the feed depends on: loader workers of ranks that have subscribed. Each checkpoint and
 * each report to the JobManager contains the progress of all of them, so they must fit into both. Flink limits the
 * state of a task to 5 MiB if the JobManager keeps it, and a message to 10 MiB. A trainer that invents groups, replicas
 * or ranks meets this limit before the job does. Thread-safe.
 */
final class Consumers {

    /** Limit of the encoded progress; enough for 70,000 consumers with short names. */
    static final long MAX_BYTES = 4L << 20;

    /** The numbers of a consumer's progress, and the lengths of both names. */
    private static final int FIXED_BYTES = 40;

    private record Place(String stream, String group, int replica, int rank, int worker) {
        static Place of(Identity consumer) {
            return new Place(
                    consumer.stream(), consumer.group(), consumer.replica(), consumer.rank(), consumer.worker());
        }
    }

    private final Set<Place> known = new HashSet<>();
    private final Predicate<GroupName> awaited;
    private final long maxBytes;
    private long bytes;

    /** @param awaited whether the end of the feed depends on a group */
    Consumers(Predicate<GroupName> awaited) {
        this(awaited, MAX_BYTES);
    }

    Consumers(Predicate<GroupName> awaited, long maxBytes) {
        this.awaited = awaited;
        this.maxBytes = maxBytes;
    }

    /**
     * Adds a consumer that subscribes, unless it is known or the feed does not wait for its group.
     *
     * @throws ProtocolException if there are too many consumers
     */
    synchronized void add(Identity consumer) throws ProtocolException {
        if (!awaited.test(GroupName.of(consumer))) {
            return;
        }
        Place place = Place.of(consumer);
        long more = size(place);
        if (!known.contains(place) && bytes + more > maxBytes) {
            throw new ProtocolException(
                    ErrorCode.INTERNAL,
                    "the feed waits for " + known.size()
                            + " consumers (loader workers of all ranks, replicas and groups)"
                            + " and cannot keep the progress of more (" + bytes + " of " + maxBytes
                            + " bytes); name the groups that count with --groups, or serve this trainer from another"
                            + " feed");
        }
        know(place);
    }

    /** Adds a consumer of an earlier process, whose progress is in the state already. */
    synchronized void restore(Identity consumer) {
        know(Place.of(consumer));
    }

    private void know(Place place) {
        if (known.add(place)) {
            bytes += size(place);
        }
    }

    private static long size(Place place) {
        return (long) FIXED_BYTES + bytes(place.stream()) + bytes(place.group());
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** Returns the number of consumers. */
    synchronized int size() {
        return known.size();
    }
}
