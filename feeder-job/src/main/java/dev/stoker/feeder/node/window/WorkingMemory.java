package dev.stoker.feeder.node.window;

import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.protocol.ErrorCode;
import dev.stoker.schemas.protocol.ProtocolException;

/**
 * The limit of the open windows of a process: two windows for each lane and group must fit.
 *
 * @param limitBytes bytes of all windows together
 */
public record WorkingMemory(long limitBytes) {
    /**
     * Refuses an order whose windows do not fit.
     *
     * @param groups groups that are open beside it, assumed to need as much
     * @throws ProtocolException naming the setting that helps
     */
    public void require(GroupOrder order, int groups) throws ProtocolException {
        long needed = Math.max(1, groups) * twoWindowsPerLane(order);
        if (needed > limitBytes) {
            throw new ProtocolException(
                    ErrorCode.TOO_LARGE,
                    "stream " + order.stream().name() + " needs about " + mebibytes(needed)
                            + " MiB of working memory (two windows for each of "
                            + order.order().lanes() + " lanes and "
                            + Math.max(1, groups) + " groups), the limit is " + mebibytes(limitBytes)
                            + " MiB: start the feed with --working-memory " + mebibytes(needed)
                            + "m, or with a smaller --shuffle-window");
        }
    }

    private static long mebibytes(long bytes) {
        return (bytes + (1 << 20) - 1) >> 20;
    }

    private static long twoWindowsPerLane(GroupOrder order) {
        StreamChunks chunks = order.stream().chunks();
        int lanes = order.order().lanes();
        long files = 0;
        long memory = 0;
        long largest = 0;
        for (int i = 0; i < chunks.size(); i++) {
            if (chunks.isLive(i)) {
                files += chunks.length(i);
                memory +=
                        WindowOpener.bytes(chunks, i) + (order.stream().source().takesMemory() ? chunks.length(i) : 0);
                largest = Math.max(largest, chunks.length(i));
            }
        }
        if (files == 0) {
            return 0;
        }
        // A window ends with the chunk that fills it.
        double window = Math.min(
                (double) order.spec().shuffleWindowBytes() / lanes + largest, (double) files / lanes + largest);
        return (long) (2 * lanes * window * ((double) memory / files));
    }
}
