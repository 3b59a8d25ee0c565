package dev.stoker.ingest.topic;

import dev.stoker.schemas.log.LogEntry;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the progress of a stream ingest in this process, for display. Tasks in other processes find no meter and
 * update only Flink's metrics. Records that are read again after a failure are counted again. Any thread may call it.
 */
public final class TopicMeter implements AutoCloseable {

    private static final Map<String, TopicMeter> METERS = new ConcurrentHashMap<>();

    private final String run;
    private final LongAdder samples = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder deadLetters = new LongAdder();
    private final Map<RecordsLeftOut, Long> leftOut = new ConcurrentHashMap<>();
    private final Map<Integer, Long> next = new ConcurrentHashMap<>();
    private final Map<Integer, Boolean> ended = new ConcurrentHashMap<>();
    private final AtomicLong versions = new AtomicLong();
    private final AtomicLong newest = new AtomicLong();

    private TopicMeter(String run) {
        this.run = run;
    }

    /** Opens the meter of a run. Closing it removes it from the tasks. */
    public static TopicMeter open(String run) {
        TopicMeter meter = new TopicMeter(run);
        METERS.put(run, meter);
        return meter;
    }

    /** The meter of a run in this process. */
    public static Optional<TopicMeter> find(String run) {
        return Optional.ofNullable(METERS.get(run));
    }

    /** Counts records that have become samples. */
    public void packed(long records, long sampleBytes) {
        samples.add(records);
        bytes.add(sampleBytes);
    }

    /** Counts a record that could not be used. */
    public void deadLetter() {
        deadLetters.increment();
    }

    /** Counts a record that was left out. */
    public void leftOut(RecordsLeftOut kind) {
        leftOut.merge(kind, 1L, Long::sum);
    }

    /** Notes the offset that was reached in a partition. */
    public void reached(int partition, long offset) {
        next.put(partition, offset);
    }

    /** Notes that a task has packed its whole input. */
    public void ended(int task) {
        ended.put(task, true);
    }

    void committed(LogEntry entry) {
        if (newest.getAndSet(entry.version()) < entry.version()) {
            versions.incrementAndGet();
        }
    }

    /** Samples packed, committed or not. */
    public long samples() {
        return samples.sum();
    }

    /** Bytes of these records. */
    public long bytes() {
        return bytes.sum();
    }

    /** Records that could not be used. */
    public long deadLetters() {
        return deadLetters.sum();
    }

    /** Records that were left out, by kind. */
    public SortedMap<RecordsLeftOut, Long> leftOut() {
        return new TreeMap<>(leftOut);
    }

    /** The offset after the last record that a task has seen, by partition. */
    public SortedMap<Integer, Long> next() {
        return new TreeMap<>(next);
    }

    /** Tasks that have packed their whole input. */
    public int endedTasks() {
        return ended.size();
    }

    /** Versions that the run has committed. */
    public long versions() {
        return versions.get();
    }

    /** The newest of these versions; 0 for none. */
    public long newestVersion() {
        return newest.get();
    }

    @Override
    public void close() {
        METERS.remove(run, this);
    }
}
