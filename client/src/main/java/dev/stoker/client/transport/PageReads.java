package dev.stoker.client.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;

/**
 * Detects local reads that had to wait for a disk. It asks the kernel only while reads are slow, so it cannot explain
 * the first slow one. For the input thread.
 */
public final class PageReads {
    private static final Path COUNTS = Path.of("/proc/thread-self/io");
    private static final String READ = "read_bytes:";
    private static final long SLOW_NS = 1_000_000;
    /** The number of reads after a slow one for which the kernel is asked. */
    private static final int LOOKS = 64;

    private static final long UNKNOWN = -1;

    private final LongSupplier readBytes;
    private final LongSupplier clock;
    private int looks;
    private long beganNs;
    private long before = UNKNOWN;

    public PageReads() {
        this(PageReads::ofThisThread, System::nanoTime);
    }

    /**
     * @param readBytes returns the bytes that the kernel has read from disks for the calling thread; negative if
     *     unknown
     */
    public PageReads(LongSupplier readBytes, LongSupplier clock) {
        this.readBytes = readBytes;
        this.clock = clock;
    }

    /** Begins a read. */
    public void begin() {
        before = looks > 0 ? readBytes.getAsLong() : UNKNOWN;
        beganNs = clock.getAsLong();
    }

    /** Ends a read. Returns the nanoseconds that the disk took; 0 if the kernel was not asked or the read was fast. */
    public long end() {
        long ns = clock.getAsLong() - beganNs;
        if (ns < SLOW_NS) {
            looks = Math.max(0, looks - 1);
            return 0;
        }
        looks = LOOKS;
        return before >= 0 && readBytes.getAsLong() != before ? ns : 0;
    }

    private static long ofThisThread() {
        try {
            for (String line : Files.readAllLines(COUNTS)) {
                if (line.startsWith(READ)) {
                    return Long.parseLong(line.substring(READ.length()).strip());
                }
            }
        } catch (IOException | NumberFormatException e) {
            return UNKNOWN;
        }
        return UNKNOWN;
    }
}
