package dev.stoker.client.topic;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The committed records of a topic, read by one thread. */
public interface TopicLog extends AutoCloseable {
    /**
     * A record in a partition.
     *
     * @param headers by name
     * @param value its bytes, which must not be changed
     */
    record Entry(int partition, long offset, Map<String, byte[]> headers, byte[] value) {}

    /**
     * The result of a poll.
     *
     * @param lost partitions that do not have the requested offset (any more)
     */
    record Found(List<Entry> entries, Set<Integer> lost) {}

    /** The number of partitions; 0 if the topic does not exist. */
    int partitions();

    /** Reads only these partitions, from these offsets. None of them is paused. */
    void readFrom(Map<Integer, Long> offsets);

    /** Continues at another offset of one of these partitions, which is no longer paused. */
    void seek(int partition, long offset);

    /** Pauses these partitions until {@link #resume}. */
    void pause(Collection<Integer> partitions);

    void resume(Collection<Integer> partitions);

    /** Waits for new records, at most for {@code most}. */
    Found poll(Duration most);

    /**
     * Commits the group's progress for monitoring. Never fails.
     *
     * @param lost called, by one of these methods, if the commit did not arrive: its broker may have died
     */
    void commit(Map<Integer, Long> offsets, Runnable lost);

    /** As {@link #commit}, and waits until it is done, at most for a second. */
    void commitAndWait(Map<Integer, Long> offsets);

    /** The first available offset; empty while no broker answers. */
    Optional<Long> begin(int partition);

    /** The offset after the last committed record or marker; empty while no broker answers. */
    Optional<Long> end(int partition);

    /** Moves to an offset of one partition: {@link #next} continues there. */
    void look(int partition, long offset);

    /** The next entry of this partition, if it arrives within a short time. */
    Optional<Entry> next();

    /** The offset up to which this partition was read, markers included. */
    long position();

    /** Whether a broker answered the last request. */
    boolean isAnswered();

    /** The last complaint of the brokers, as the end of a sentence, or an empty text. */
    String trouble();

    @Override
    void close();
}
