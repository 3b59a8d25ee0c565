package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class StreamChunksTest {
    private static final UUID ID = UUID.fromString("01950000-0000-7000-8000-00000000abcd");

    @Test
    void keepsWhatItWasGiven() {
        int[] removed = {0, 4};
        StreamChunks chunks = StreamChunks.builder(1)
                .addGhost(3, 7)
                .addLive(5, ID, 9, removed, new ExpectedChunk(Integer.MAX_VALUE, -1, 77, 5, 1L << 33))
                .addLive(6, ID, 2, new ExpectedChunk(100, 1, 2, 3, 4))
                .build();
        removed[0] = 3;
        assertThat(chunks.size()).isEqualTo(3);
        assertThat(chunks.liveChunks()).isEqualTo(2);
        assertThat(chunks.liveRows()).isEqualTo(9);
        assertThat(chunks.indexOf(5)).isEqualTo(1);
        assertThat(chunks.indexOf(4)).isNegative();
        assertThat(chunks.isLive(0)).isFalse();
        assertThat(chunks.rows(0)).isEqualTo(7);
        assertThat(chunks.liveRows(0)).isZero();
        assertThat(chunks.id(1)).isEqualTo(ID);
        assertThat(chunks.removedRows(1)).containsExactly(0, 4);
        assertThat(chunks.liveRows(1)).isEqualTo(7);
        assertThat(chunks.removedRows(2)).isEmpty();
        assertThat(chunks.length(1)).isEqualTo(Integer.MAX_VALUE);
        assertThat(chunks.crc32c(1)).isEqualTo(-1);
        assertThat(chunks.headLength(1)).isEqualTo(77);
        assertThat(chunks.headCrc32c(1)).isEqualTo(5);
        assertThat(chunks.largestRow(1)).isEqualTo(1L << 33);
        assertThat(chunks.largestRow()).isEqualTo(1L << 33);
    }

    @Test
    void refusesOrdinalsThatDoNotAscend() {
        StreamChunksBuilder builder = StreamChunks.builder(2).addGhost(3, 7);
        assertThatThrownBy(() -> builder.addGhost(3, 7)).hasMessageContaining("must ascend from 0: 3 after 3");
        assertThatThrownBy(() -> StreamChunks.builder(0).addGhost(-1, 7)).hasMessageContaining("must ascend");
    }

    @Test
    void refusesRowsThatAreNotThere() {
        ExpectedChunk file = new ExpectedChunk(100, 0, 0, 0, 0);
        StreamChunksBuilder builder = StreamChunks.builder(2);
        assertThatThrownBy(() -> builder.addLive(0, ID, 5, new int[] {5}, file)).hasMessageContaining("chunk 0 of 5");
        assertThatThrownBy(() -> builder.addLive(0, ID, 5, new int[] {2, 2}, file))
                .hasMessageContaining("found 2");
        assertThatThrownBy(() -> builder.addGhost(0, -1)).hasMessageContaining("has -1 rows");
        assertThat(builder.addLive(0, ID, 5, file).build().size())
                .as("a refused chunk leaves nothing")
                .isEqualTo(1);
    }

    @Test
    void refusesLengthsNoChunkHas() {
        assertThatThrownBy(() -> new ExpectedChunk(1L << 31, 0, 0, 0, 0))
                .hasMessageContaining("chunk length 2147483648");
        assertThatThrownBy(() -> new ExpectedChunk(5, 0, 6, 0, 0)).hasMessageContaining("head length 6");
    }
}
