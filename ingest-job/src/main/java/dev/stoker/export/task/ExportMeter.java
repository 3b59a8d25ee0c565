package dev.stoker.export.task;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** Counts the progress of an export in this process, for display. Any thread may call it. */
public final class ExportMeter implements AutoCloseable {
    private static final Map<String, ExportMeter> METERS = new ConcurrentHashMap<>();

    private final String export;
    private final LongAdder rows = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final AtomicLong firstTaskNanos = new AtomicLong();

    private ExportMeter(String export) {
        this.export = export;
    }

    /** Opens the meter of an export. Closing it removes it from the tasks. */
    public static ExportMeter open(String export) {
        ExportMeter meter = new ExportMeter(export);
        METERS.put(export, meter);
        return meter;
    }

    static Optional<ExportMeter> find(String export) {
        return Optional.ofNullable(METERS.get(export));
    }

    void started() {
        firstTaskNanos.compareAndSet(0, System.nanoTime());
    }

    void read(long moreRows, long moreBytes) {
        rows.add(moreRows);
        bytes.add(moreBytes);
    }

    /** Returns the number of samples that were read. */
    public long rows() {
        return rows.sum();
    }

    /** Returns the bytes of the samples that are exported. */
    public long bytes() {
        return bytes.sum();
    }

    /** Returns when the first task began, by {@link System#nanoTime}; 0 if none has. */
    public long firstTaskNanos() {
        return firstTaskNanos.get();
    }

    @Override
    public void close() {
        METERS.remove(export, this);
    }
}
