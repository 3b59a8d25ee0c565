package dev.stoker.server.window;

import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.protocol.ProtocolException;
import dev.stoker.schemas.protocol.parts.ErrorCode;
import dev.stoker.schemas.text.Units;

/**
 * The limit of the open windows of a process: two windows for each lane and group must fit.
 *
 * @param limitBytes bytes of all windows together
 * @param withChunks whether chunks of them that are not mapped have to fit as well
 */
public record WorkingMemory(long limitBytes, boolean withChunks) {
    /**
     * Refuses an order whose windows do not fit.
     *
     * @param groups groups that are open beside it, assumed to need as much
     * @throws ProtocolException naming the setting that helps
     */
    public void require(GroupOrder order, int groups) throws ProtocolException {
        long needed = Math.max(1, groups) * (twoWindowsPerLane(order) + (withChunks ? ofChunks(order) : 0));
        if (needed > limitBytes) {
            throw new ProtocolException(
                    ErrorCode.TOO_LARGE,
                    "stream " + order.stream().name() + " needs about " + Units.mebibytes(needed)
                            + " MiB of working memory (two windows for each of "
                            + order.order().lanes() + " lanes and "
                            + Math.max(1, groups) + " groups), the limit is " + Units.mebibytes(limitBytes)
                            + " MiB: start the feed with --working-memory " + Units.mebibytes(needed)
                            + "m, or with a smaller --shuffle-window");
        }
    }

    private static long twoWindowsPerLane(GroupOrder order) {
        StreamChunks chunks = order.order().chunks();
        long files = 0;
        long memory = 0;
        for (int i = 0; i < chunks.size(); i++) {
            if (chunks.isLive(i)) {
                files += bytes(chunks, i);
                memory += WindowOpener.bytes(chunks, i);
            }
        }
        return files == 0 ? 0 : (long) (2.0 * oneWindowPerLane(order) * memory / files);
    }

    /** The bytes of the files of a chunk: its own, and that of its overlay. */
    private static long bytes(StreamChunks chunks, int chunk) {
        ChunkOverlay overlay = chunks.overlay(chunk);
        return chunks.length(chunk) + (overlay == null ? 0 : overlay.length());
    }

    /** About the bytes of the chunk files of one window for each lane. */
    private static long oneWindowPerLane(GroupOrder order) {
        StreamChunks chunks = order.stream().chunks();
        int lanes = order.order().lanes();
        long files = 0;
        long largest = 0;
        for (int i = 0; i < chunks.size(); i++) {
            files += bytes(chunks, i);
            largest = Math.max(largest, bytes(chunks, i));
        }
        // A window ends with the chunk that fills it.
        return (long) (lanes
                * Math.min(
                        (double) order.spec().shuffleWindowBytes() / lanes + largest,
                        (double) files / lanes + largest));
    }

    /** The memory that a group's chunks take which are not mapped: two windows for each lane, or all there are. */
    public static long ofChunks(GroupOrder order) {
        if (!order.stream().source().takesMemory()) {
            return 0;
        }
        StreamChunks chunks = order.stream().chunks();
        long files = 0;
        for (int i = 0; i < chunks.size(); i++) {
            files += bytes(chunks, i);
        }
        return Math.min(files, 2 * oneWindowPerLane(order));
    }

    /** The same at whatever size the dataset may come to, if its chunks grow no larger. */
    public static long ofChunksToCome(GroupOrder order) {
        if (!order.stream().source().takesMemory()) {
            return 0;
        }
        StreamChunks chunks = order.stream().chunks();
        long largest = 0;
        for (int i = 0; i < chunks.size(); i++) {
            largest = Math.max(largest, bytes(chunks, i));
        }
        long window = order.spec().shuffleWindowBytes();
        return window > Long.MAX_VALUE / 4 ? window : 2 * (window + order.spec().lanes() * largest);
    }
}
