package dev.stoker.formats;

/**
 * Bounds for the sizes that a file may declare, so that a damaged or hostile file ends in an error instead of filling
 * the memory.
 *
 * @param memoryBytes memory for one part of a file: the selected columns of a row group, a block, a decompressed page.
 *     A reader refuses a larger part before it reads it, and names the memory that it needs
 * @param valueBytes length of one value
 * @param depth nesting of a schema or value
 * @param expansion decompressed bytes per compressed byte, from 1 MiB on
 * @param memoryAdvice how to raise {@code memoryBytes}, as a clause before the value; empty if the user cannot
 */
public record ReadLimits(long memoryBytes, long valueBytes, int depth, int expansion, String memoryAdvice) {
    private static final long MIB = 1 << 20;

    /** 1 GiB for a part and for a value, 32 levels, 1:1000. */
    public static final ReadLimits DEFAULT = new ReadLimits(1L << 30, 1L << 30, 32, 1000);

    /** Creates limits of a command that has no option for the memory. */
    public ReadLimits(long memoryBytes, long valueBytes, int depth, int expansion) {
        this(memoryBytes, valueBytes, depth, expansion, "");
    }

    /**
     * Returns the next steps for a part that needs more memory, as the end of a message.
     *
     * @param bytes memory that is enough; negative if none is
     * @param other the next step without more memory, as a clause
     */
    public String moreMemory(long bytes, String other) {
        return memoryAdvice.isEmpty() || bytes < 0
                ? "; " + other
                : "; " + memoryAdvice + " " + ((bytes - 1) / MIB + 1) + "mb, or " + other;
    }
}
