package dev.stoker.formats.block;

import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.UnsupportedFileException;

/** Counts the memory that reading one file takes. For one thread. */
public final class MemoryBudget {
    private final String file;
    private final ReadLimits limits;
    private long used;

    /**
     * @param file name of the file, for messages
     * @param limits the memory that may be used at the same time
     */
    public MemoryBudget(String file, ReadLimits limits) {
        this.file = file;
        this.limits = limits;
    }

    /**
     * Takes memory before it is allocated.
     *
     * @param what its use, such as "column 'image' of row group 3"
     */
    public void take(long bytes, String what) throws UnsupportedFileException {
        if (bytes < 0 || bytes > limits.memoryBytes() - used) {
            long needed = used + bytes;
            // What follows needs memory, too.
            long enough = bytes < 0 || needed > Long.MAX_VALUE / 2 ? -1 : 2 * needed;
            throw new UnsupportedFileException(file + ": " + what + " needs " + (bytes < 0 ? "too much" : needed)
                    + " bytes of memory, but the limit is " + limits.memoryBytes()
                    + limits.moreMemory(enough, "select fewer columns, or write the file with smaller parts"));
        }
        used += bytes;
    }

    /** Gives memory back. */
    public void release(long bytes) {
        used -= bytes;
    }

    /** Returns the bytes in use. */
    public long used() {
        return used;
    }
}
