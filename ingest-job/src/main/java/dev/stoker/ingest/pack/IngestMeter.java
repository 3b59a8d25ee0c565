package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.pack.sync.Packed;
import dev.stoker.ingest.pack.sync.SyncChanges;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the progress of an ingest in this process, for display. Tasks in other processes find no meter and update only
 * Flink's metrics. Any thread may call it.
 */
public final class IngestMeter implements AutoCloseable {

    private static final Map<String, IngestMeter> METERS = new ConcurrentHashMap<>();

    private final String ingest;
    private final LongAdder listedFiles = new LongAdder();
    private final LongAdder listedBytes = new LongAdder();
    private final LongAdder samples = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final LongAdder chunks = new LongAdder();
    private final SkipCounts skipped = new SkipCounts();
    private final SyncChanges changes = new SyncChanges();
    private final AtomicLong firstTaskNanos = new AtomicLong();
    private final AtomicLong firstPackNanos = new AtomicLong();

    private IngestMeter(String ingest) {
        this.ingest = ingest;
    }

    /** Opens the meter of an ingest. Closing it removes it from the tasks. */
    public static IngestMeter open(String ingest) {
        IngestMeter meter = new IngestMeter(ingest);
        METERS.put(ingest, meter);
        return meter;
    }

    public static Optional<IngestMeter> find(String ingest) {
        return Optional.ofNullable(METERS.get(ingest));
    }

    public void started() {
        firstTaskNanos.compareAndSet(0, System.nanoTime());
    }

    public void listed(long files, long fileBytes) {
        listedFiles.add(files);
        listedBytes.add(fileBytes);
    }

    public void packing() {
        firstPackNanos.compareAndSet(0, System.nanoTime());
    }

    void packed(Packed packed) {
        packed(packed.samples(), packed.bytes(), packed.chunks().size());
    }

    /** Counts samples that were packed, with the bytes of their values, and chunks that were written. */
    public void packed(long moreSamples, long moreBytes, long moreChunks) {
        samples.add(moreSamples);
        bytes.add(moreBytes);
        chunks.add(moreChunks);
    }

    /** Adds the counts of a task that has ended. */
    public synchronized void skipped(SkipCounts more) {
        skipped.add(more);
    }

    /** Returns the counts of the tasks that have ended. */
    public synchronized SkipCounts skipped() {
        SkipCounts copy = new SkipCounts();
        copy.add(skipped);
        return copy;
    }

    /** Returns what the tasks of a sync that have ended have found. */
    public SyncChanges changes() {
        return changes;
    }

    public long listedFiles() {
        return listedFiles.sum();
    }

    public long listedBytes() {
        return listedBytes.sum();
    }

    public long samples() {
        return samples.sum();
    }

    public long bytes() {
        return bytes.sum();
    }

    public long chunks() {
        return chunks.sum();
    }

    /** When the first task began, by {@link System#nanoTime}; 0 if none has. */
    public long firstTaskNanos() {
        return firstTaskNanos.get();
    }

    /** When the first chunk was begun, by {@link System#nanoTime}; 0 if none was. */
    public long firstPackNanos() {
        return firstPackNanos.get();
    }

    @Override
    public void close() {
        METERS.remove(ingest, this);
    }
}
