package dev.stoker.feeder.node.chunks;

/**
 * How long the calling thread has been held up by reading: chunk heads, chunks, windows that another thread reads; and whether
 * the kernel had to go to a disk for that. Counted only where something was not at hand yet, so that what is warm costs
 * nothing. Each thread has its own count.
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

    /** The calling thread begins to wait for a reading; calls may be nested, and only the outermost counts. */
    public static void begin() {
        LoadTime time = OF_THREAD.get();
        if (time.depth++ == 0) {
            time.byOthers = false;
            time.beganBytes = time.reads.bytes();
            time.beganNanos = System.nanoTime();
        }
    }

    /** The reading that {@link #begin} announced is over. */
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

    /** What the calling thread waits for was read from a disk by another one. */
    public static void byOthers() {
        OF_THREAD.get().byOthers = true;
    }

    /** Bytes that the kernel has read from disks for the calling thread. */
    public static long diskBytes() {
        return OF_THREAD.get().reads.bytes();
    }

    /** Nanoseconds since the last call of this by the same thread. */
    public static long take() {
        LoadTime time = OF_THREAD.get();
        long taken = time.nanos;
        time.nanos = 0;
        return taken;
    }

    /** Those of {@link #take} in which the kernel had to go to a disk; also since the last call of this. */
    public static long takeDisk() {
        LoadTime time = OF_THREAD.get();
        long taken = time.diskNanos;
        time.diskNanos = 0;
        return taken;
    }

    /** The calling thread ends. */
    public static void forget() {
        OF_THREAD.get().reads.close();
        OF_THREAD.remove();
    }
}
