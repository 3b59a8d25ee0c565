package dev.stoker.feeder.node;

import dev.stoker.schemas.protocol.Stats;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * How a feed stands at one moment, as one of its servers knows it. Holds no secret.
 *
 * @param name the feed's name
 * @param id the feed's id
 * @param address where trainers reach this server
 * @param startedMs when the server started, in milliseconds since 1970
 * @param nowMs the moment
 * @param totals the server's totals and gauges
 * @param tiers what holds data in front of the origin, fastest first
 * @param groups the groups, in order of their streams
 */
public record FeedStatus(
        String name,
        UUID id,
        String address,
        long startedMs,
        long nowMs,
        NodeMetrics totals,
        List<Tier> tiers,
        List<Group> groups) {

    public FeedStatus {
        tiers = List.copyOf(tiers);
        groups = List.copyOf(groups);
    }

    /**
     * What holds data, and how full it is.
     *
     * @param name what it is called
     * @param unit {@code bytes} or {@code files}
     * @param used so many are in use
     * @param limit so many may be
     * @param cache what is counted of it, if it keeps chunks
     */
    public record Tier(String name, String unit, long used, long limit, Optional<Cache> cache) {
        /** One that keeps no chunks. */
        public Tier(String name, String unit, long used, long limit) {
            this(name, unit, used, limit, Optional.empty());
        }
    }

    /**
     * Totals of a tier that keeps chunks.
     *
     * @param hits chunks that were needed and there
     * @param misses chunks that were needed and not there
     * @param loads chunks that were placed, or found and checked
     * @param loadNanos time of those
     * @param failures of its device
     * @param off why it takes nothing more, or empty
     * @param note what is to be known of it, or empty
     */
    public record Cache(long hits, long misses, long loads, long loadNanos, long failures, String off, String note) {}

    /**
     * A group's place in its pass over a stream.
     *
     * @param stream the stream
     * @param dataset the dataset's name
     * @param version the dataset's version
     * @param split the split
     * @param name the group
     * @param run the newest run
     * @param worldSize its world size
     * @param epoch the greatest epoch that a rank of the run has reached
     * @param next the number after the greatest that was consumed of it
     * @param batches numbers of an epoch
     * @param samples samples of an epoch
     * @param epochs after which the group is done
     * @param ranks those of the newest run, by rank, worker and replica
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
     * @param workers loader workers of the rank
     * @param replica its replica
     * @param connected whether it is connected to this server now
     * @param client what it calls itself
     * @param epoch the epoch it reads
     * @param next the number after the last that it consumed
     * @param pieces messages sent to it by this server
     * @param rows samples of those
     * @param bytes bytes of those
     * @param used samples that it has acknowledged to this server, and their bytes
     * @param server what this server did meanwhile
     * @param trainer what it says of itself, over all servers; empty for a client that does not tell
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
     * @param idle nothing more was asked for: the trainer is slower, or does not read
     * @param origin waiting for a remote store
     * @param disk waiting for a disk of this machine
     * @param build gathering messages
     * @param write writing to the connection
     */
    public record Server(long idle, long origin, long disk, long build, long write) {}
}
