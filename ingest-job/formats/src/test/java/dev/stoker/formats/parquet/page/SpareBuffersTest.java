package dev.stoker.formats.parquet.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpareBuffersTest {
    private final SpareBuffers buffers = new SpareBuffers();

    @Test
    void aBufferThatFitsIsUsedAgain() {
        byte[] large = buffers.take(1000);
        byte[] small = buffers.take(850);
        buffers.release(large);
        buffers.release(small);

        byte[] again = buffers.take(840);

        assertThat(again).isSameAs(small);
        assertThat(buffers.take(840)).isSameAs(large);
        assertThat(buffers.take(840)).isNotSameAs(large);
    }

    @Test
    void aBufferThatIsMuchTooLargeOrTooSmallIsNotKept() {
        byte[] first = buffers.take(1000);
        buffers.release(first);
        assertThat(buffers.take(700)).isNotSameAs(first);
        assertThat(buffers.take(1000)).isNotSameAs(first);
        byte[] second = buffers.take(1000);
        buffers.release(second);
        assertThat(buffers.take(1001)).isNotSameAs(second);
    }
}
