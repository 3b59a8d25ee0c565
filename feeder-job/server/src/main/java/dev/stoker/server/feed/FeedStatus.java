package dev.stoker.server.feed;

import dev.stoker.schemas.protocol.Stats;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The state of a feed at one moment, as one of its servers knows it. Contains no secrets.
 *
 * @param name the feed's name
 * @param id the feed's id
 * @param whole the feed as a whole, from the newest lane map of this server
 * @param address where trainers reach this server
 * @param startedMs when the server started, in milliseconds since 1970
 * @param nowMs the moment, in milliseconds since 1970
 * @param totals the server's totals and gauges
 * @param tiers the tiers and other memory that hold data in front of the origin, fastest first
 * @param groups the groups, in order of their streams
 * @param problems services that the server waits for
 */
public record FeedStatus(
        String name,
        UUID id,
        Whole whole,
        String address,
        long startedMs,
        long nowMs,
        NodeMetrics totals,
        List<Tier> tiers,
        List<Group> groups,
        List<String> problems) {

    public FeedStatus {
        tiers = List.copyOf(tiers);
        groups = List.copyOf(groups);
        problems = List.copyOf(problems);
    }

    /**
     * The feed as a whole.
     *
     * @param feeders addresses of all feeders of the newest lane map; this server's alone before the first map
     * @param lanes lanes of all streams by the default order, over all feeders
     */
    public record Whole(List<String> feeders, long lanes) {
        public Whole {
            feeders = List.copyOf(feeders);
        }
    }

    /** Returns the same status with further problems. */
    public FeedStatus with(Collection<String> more) {
        List<String> all = new ArrayList<>(problems);
        all.addAll(more);
        return new FeedStatus(name, id, whole, address, startedMs, nowMs, totals, tiers, groups, all);
    }

    /**
     * A tier or another place that holds data, and how full it is.
     *
     * @param name the name
     * @param unit {@code bytes} or {@code files}
     * @param used amount in use
     * @param limit maximum of {@code used}
     * @param cache totals, if it keeps chunks
     */
    public record Tier(String name, String unit, long used, long limit, Optional<Cache> cache) {
        /** A place that keeps no chunks. */
        public Tier(String name, String unit, long used, long limit) {
            this(name, unit, used, limit, Optional.empty());
        }
    }

    /**
     * Totals of a tier that keeps chunks.
     *
     * @param hits number of requested chunks that were in the tier
     * @param misses number of requested chunks that were not in the tier
     * @param loads number of chunks that were placed, or found and checked
     * @param loadNanos time spent on loads
     * @param failures number of device failures
     * @param off why the tier accepts no more chunks, or empty
     * @param note a remark for the user, or empty
     */
    public record Cache(long hits, long misses, long loads, long loadNanos, long failures, String off, String note) {}

    /**
     * A group's position in its pass over a stream.
     *
     * @param stream the stream
     * @param dataset the dataset's name
     * @param version the dataset's version
     * @param split the split
     * @param name the group
     * @param run the newest run
     * @param worldSize world size of the newest run
     * @param epoch the greatest epoch that a rank of the run has reached
     * @param next the number after the greatest consumed batch of that epoch
     * @param batches number of batches of an epoch
     * @param samples number of samples of an epoch
     * @param epochs number of epochs after which the group is done
     * @param ranks the ranks of the newest run, by rank, worker and replica
     */
    public record Group(
            String stream,
            String dataset,
            long version,
            String split,
            String name,
            long run,
            int worldSize,
            long epoch,
            long next,
            long batches,
            long samples,
            OptionalLong epochs,
            List<Rank> ranks) {
        public Group {
            ranks = List.copyOf(ranks);
        }
    }

    /**
     * One trainer of a group.
     *
     * @param rank its rank
     * @param worker its loader worker
     * @param workers number of loader workers of the rank
     * @param replica its replica
     * @param connected whether it is connected to this server now
     * @param client name and version of its client
     * @param epoch the epoch that it reads
     * @param next the number after the last batch that it consumed
     * @param pieces number of messages that this server sent to it
     * @param rows number of samples in these messages
     * @param bytes number of bytes in these messages
     * @param used number and bytes of the samples that it acknowledged to this server
     * @param server how this server spent its time on the trainer
     * @param trainer what the trainer reports of itself, over all servers; empty if the client does not report it
     */
    public record Rank(
            int rank,
            int worker,
            int workers,
            int replica,
            boolean connected,
            String client,
            long epoch,
            long next,
            long pieces,
            long rows,
            long bytes,
            Used used,
            Server server,
            Optional<Stats> trainer) {}

    /**
     * How a server's thread for one trainer has spent its time, in nanoseconds.
     *
     * @param idle time without a request: the trainer is slower than the server, or does not read
     * @param origin time spent waiting for a remote store
     * @param disk time spent waiting for a disk of this machine
     * @param build time spent on gathering messages
     * @param write time spent on writing to the connection
     */
    public record Server(long idle, long origin, long disk, long build, long write) {}
}
