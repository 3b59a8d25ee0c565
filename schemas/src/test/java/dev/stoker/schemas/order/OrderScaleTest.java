package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** An epoch of 10^6 chunks and 10^9 samples. The test limits the allocated bytes, because their number is exact. */
class OrderScaleTest {
    private static final int CHUNKS = 1_000_000;
    private static final int ROWS = 1000;
    private static final OrderSpec SPEC = new OrderSpec(42, 256, 16, 1L << 30, ShufflePolicy.WINDOW, LaneOrder.MIXED);

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void firstBatchAtAnyPositionTakesLittleMemoryAndTime() {
        StreamChunksBuilder builder = StreamChunks.builder(CHUNKS);
        ExpectedChunk file = new ExpectedChunk(8 << 20, 1, 1 << 16, 2, 1 << 14);
        for (int i = 0; i < CHUNKS; i++) {
            builder.addLive(i, new UUID(i, ~i), ROWS, file);
        }
        long before = threads.getCurrentThreadAllocatedBytes();
        StreamChunks chunks = builder.build();
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .as("bytes of the columns")
                .isLessThan(70L * CHUNKS);

        long batches = new StreamOrder(chunks, SPEC).size().batches();
        assertThat(batches).isEqualTo(1_000_000_000L / 256);
        long bestNs = Long.MAX_VALUE;
        for (long position : new long[] {0, batches / 3, batches / 2, batches - 2, batches - 1}) {
            before = threads.getCurrentThreadAllocatedBytes();
            long start = System.nanoTime();
            rows(new StreamOrder(chunks, SPEC).epoch(position + 7), position);
            bestNs = Math.min(bestNs, System.nanoTime() - start);
            assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                    .as("bytes for the first batch at %d", position)
                    .isLessThan(64 << 20);
        }
        assertThat(bestNs).as("ns").isLessThan(1_000_000_000L);
    }

    private static void rows(EpochOrder epoch, long number) {
        int rows = 0;
        for (Piece piece : epoch.batch(number)) {
            LaneEpoch lane = epoch.lane(piece.lane());
            for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
                rows += slice.rows();
                assertThat(lane.window(slice.window()).rows()).isGreaterThanOrEqualTo(slice.to());
            }
        }
        assertThat(rows).isEqualTo(256);
    }
}
