package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class LaneEpochTest {
    private static final OrderSpec SPEC = new OrderSpec(9, 4, 1, 2000, ShufflePolicy.WINDOW, LaneOrder.MIXED);

    @Test
    void cutsWindowsByFileLengthWhateverTheLiveRows() {
        LaneEpoch lane = lane(new int[] {10, 10, 10, 10, 10}, 1000);
        assertThat(lane.windows()).isEqualTo(3);
        assertThat(lane.windowChunks(0)).hasSize(2);
        assertThat(lane.windowChunks(2)).hasSize(1);
        assertThat(lane.windowFirstRow(2)).isEqualTo(40);
        assertThat(lane.windowOfRow(39)).isEqualTo(1);
        assertThat(lane.windowOfRow(40)).isEqualTo(2);
    }

    @Test
    void slicesAcrossWindowsAndSkipsEmptyOnes() {
        LaneEpoch lane = lane(new int[] {10, 0, 0, 0, 10}, 2000);
        assertThat(lane.windows()).isEqualTo(5);
        assertThat(lane.rows()).isEqualTo(20);
        assertThat(lane.slices(8, 4)).extracting(WindowSlice::rows).containsExactly(2, 2);
        assertThat(lane.slices(0, 20)).extracting(WindowSlice::rows).containsExactly(10, 10);
        for (int row = 0; row < 20; row++) {
            int window = lane.windowOfRow(row);
            assertThat(lane.slices(row, 1)).containsExactly(new WindowSlice(window, row % 10, row % 10 + 1));
        }
        assertThatThrownBy(() -> lane.slices(18, 3)).hasMessageContaining("which has 20");
        assertThatThrownBy(() -> lane.windowOfRow(20)).hasMessageContaining("which has 20");
    }

    @Test
    void asksForASmallerWindowWhenItHoldsMoreRowsThanAnArray() {
        StreamChunksBuilder builder = StreamChunks.builder(2);
        for (int i = 0; i < 2; i++) {
            builder.addLive(i, new UUID(0, i), Integer.MAX_VALUE, new ExpectedChunk(100, 0, 0, 0, 0));
        }
        LaneEpoch lane = new StreamOrder(builder.build(), SPEC).epoch(0).lane(0);
        assertThatThrownBy(() -> lane.window(0)).hasMessageContaining("choose a smaller shuffle window");
    }

    private static LaneEpoch lane(int[] rows, long length) {
        StreamChunksBuilder builder = StreamChunks.builder(rows.length);
        for (int i = 0; i < rows.length; i++) {
            builder.addLive(i, new UUID(0, i), rows[i], new ExpectedChunk(length, 0, 0, 0, 0));
        }
        return new StreamOrder(builder.build(), SPEC).epoch(0).lane(0);
    }
}
