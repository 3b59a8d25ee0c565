package dev.stoker.schemas.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Writes the lines of the hash table. A key belongs to the home line of its hash, or, if that line is full, to the
 * first later line that is not. Not thread-safe.
 */
final class HashLines {

    private final long buckets;
    private final RunOutput blocks;
    private final ByteBuffer block =
            ByteBuffer.allocate(RunFormat.BLOCK_LINES * RunFormat.LINE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final ByteBuffer line = ByteBuffer.allocate(RunFormat.LINE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private long current = 1;
    private int filled;

    /** @param blocks receives the lines, {@link RunFormat#BLOCK_LINES} in all calls but the last */
    HashLines(long buckets, RunOutput blocks) {
        this.buckets = buckets;
        this.blocks = blocks;
        block.putLong(RunFormat.END_OF_STREAM).position(RunFormat.LINE_BYTES);
    }

    /** Adds a row, in ascending order of the unsigned hashes. */
    void add(int hash, long row) throws IOException {
        long home = RunFormat.home(hash, buckets);
        while (current < home) {
            end(false);
        }
        if (filled == RunFormat.SLOTS) {
            end(true);
        }
        line.putInt(4 * filled, (int) row);
        line.put(RunFormat.TAGS_AT + filled, (byte) hash);
        filled++;
    }

    /** Completes the table, and returns the number of lines after line 0. */
    long finish() throws IOException {
        do {
            end(false);
        } while (current <= buckets);
        if (block.position() > 0) {
            blocks.write(block.flip());
        }
        return current - 1;
    }

    private void end(boolean isContinued) throws IOException {
        line.put(RunFormat.COUNT_AT, (byte) filled).put(RunFormat.CONTINUES_AT, (byte) (isContinued ? 1 : 0));
        if (!block.hasRemaining()) {
            blocks.write(block.flip());
            block.clear();
        }
        block.put(line.array());
        for (int i = 0; i < RunFormat.LINE_BYTES; i += Long.BYTES) {
            line.putLong(i, 0);
        }
        filled = 0;
        current++;
    }
}
