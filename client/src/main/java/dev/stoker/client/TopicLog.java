package dev.stoker.client;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The committed records of a topic, as one thread reads them. */
interface TopicLog extends AutoCloseable {
    /**
     * A record as it stands in a partition.
     *
     * @param headers by name
     * @param value its bytes, not to be changed
     */
    record Entry(int partition, long offset, Map<String, byte[]> headers, byte[] value) {}

    /**
     * What has come.
     *
     * @param lost partitions that do not have (any more) the offset at which they should go on
     */
    record Found(List<Entry> entries, Set<Integer> lost) {}

    /** How many partitions the topic has; 0 if it is not there. */
    int partitions();

    /** Goes on at these offsets of these partitions, and at no others. */
    void readFrom(Map<Integer, Long> offsets);

    /** Goes on elsewhere in one of those. */
    void seek(int partition, long offset);

    /** Nothing more of these until {@link #resume}. */
    void pause(Collection<Integer> partitions);

    void resume(Collection<Integer> partitions);

    /** What has come, after this while at most. */
    Found poll(Duration most);

    /**
     * Tells the group's progress, for whoever looks; never fails.
     *
     * @param lost is called, by one of these methods, if it did not arrive: its broker may have died
     */
    void commit(Map<Integer, Long> offsets, Runnable lost);

    /** As {@link #commit}, and waits until it is done, or for a second. */
    void commitAndWait(Map<Integer, Long> offsets);

    /** The first offset that is there; empty while no broker answers. */
    Optional<Long> begin(int partition);

    /** The offset after the last committed record or marker; empty while no broker answers. */
    Optional<Long> end(int partition);

    /** Goes to an offset of a partition, and to no other: {@link #next} reads on there. */
    void look(int partition, long offset);

    /** The next entry of the partition that is looked at, if it comes within a short while. */
    Optional<Entry> next();

    /** The offset up to which the partition that is looked at was read, markers included. */
    long position();

    /** Whether a broker has answered the last question. */
    boolean isAnswered();

    /** What the brokers were last heard to complain of, as the end of a sentence; or nothing. */
    String trouble();

    @Override
    void close();
}
