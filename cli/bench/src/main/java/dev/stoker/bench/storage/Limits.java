package dev.stoker.bench.storage;

import dev.stoker.bench.measure.Machine;

/**
 * Memory that a measurement may use.
 *
 * @param cachedBytes of files that the page cache keeps
 * @param bufferBytes of the buffers of all reads at a time
 */
record Limits(long cachedBytes, long bufferBytes) {

    /** Half of the available memory, and three quarters of what Java can allocate. */
    static Limits ofThisMachine() {
        return new Limits(Machine.availableBytes() / 2, Runtime.getRuntime().maxMemory() / 4 * 3);
    }
}
