package dev.stoker.server.chunks;

/**
 * How long the calling thread has waited for chunk heads, chunks, and windows that another thread reads; and whether
 * the kernel had to read from a disk for them. Only data that is not in memory yet is counted, so reads of cached data
 * cost nothing. Each thread has a separate count.
 */
public final class LoadTime {
    private static final ThreadLocal<LoadTime> OF_THREAD = ThreadLocal.withInitial(LoadTime::new);

    private final ThreadReads reads = new ThreadReads();
    private long nanos;
    private long diskNanos;
    private long beganNanos;
    private long beganBytes;
    private boolean byOthers;
    private int depth;

    private LoadTime() {}

    /**
     * Marks the start of a read that the calling thread waits for. Calls may be nested; only the outermost one counts.
     */
    public static void begin() {
        LoadTime time = OF_THREAD.get();
        if (time.depth++ == 0) {
            time.byOthers = false;
            time.beganBytes = time.reads.bytes();
            time.beganNanos = System.nanoTime();
        }
    }

    /** Marks the end of the read that {@link #begin} started. */
    public static void end() {
        LoadTime time = OF_THREAD.get();
        if (--time.depth == 0) {
            long took = System.nanoTime() - time.beganNanos;
            time.nanos += took;
            if (time.byOthers || !time.reads.isKnown() || time.reads.bytes() != time.beganBytes) {
                time.diskNanos += took;
            }
        }
    }

    /** Notes that another thread read the data that the calling thread waits for from a disk. */
    public static void byOthers() {
        OF_THREAD.get().byOthers = true;
    }

    /** Returns the number of bytes that the kernel has read from disks for the calling thread. */
    public static long diskBytes() {
        return OF_THREAD.get().reads.bytes();
    }

    /** Returns the nanoseconds since this thread's last call of this method. */
    public static long take() {
        LoadTime time = OF_THREAD.get();
        long taken = time.nanos;
        time.nanos = 0;
        return taken;
    }

    /**
     * Returns the nanoseconds of {@link #take} in which the kernel had to read from a disk, since the last call of this
     * method.
     */
    public static long takeDisk() {
        LoadTime time = OF_THREAD.get();
        long taken = time.diskNanos;
        time.diskNanos = 0;
        return taken;
    }

    /** Drops the counts of the calling thread, which ends. */
    public static void forget() {
        OF_THREAD.get().reads.close();
        OF_THREAD.remove();
    }
}
