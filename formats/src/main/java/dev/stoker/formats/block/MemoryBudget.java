package dev.stoker.formats.block;

import dev.stoker.formats.UnsupportedFileException;

/** Counts the memory that reading one file takes. For one thread. */
public final class MemoryBudget {
    private final String file;
    private final long limit;
    private long used;

    /**
     * @param file name of the file, for messages
     * @param limit bytes that may be used at the same time
     */
    public MemoryBudget(String file, long limit) {
        this.file = file;
        this.limit = limit;
    }

    /**
     * Takes memory before it is allocated.
     *
     * @param what its use, such as "column 'image' of row group 3"
     */
    public void take(long bytes, String what) throws UnsupportedFileException {
        if (bytes < 0 || bytes > limit - used) {
            throw new UnsupportedFileException(file + ": " + what + " needs " + (bytes < 0 ? "too much" : used + bytes)
                    + " bytes of memory, but the limit is " + limit
                    + "; raise the memory limit (--part-memory), select fewer columns, or write the file with"
                    + " smaller parts");
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
