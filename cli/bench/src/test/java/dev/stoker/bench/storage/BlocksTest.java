package dev.stoker.bench.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.bench.storage.Blocks.Block;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlocksTest {

    private static final List<TestFile> FILES =
            List.of(new TestFile("a", 25), new TestFile("b", 9), new TestFile("c", 10), new TestFile("d", 31));

    @Test
    void countsTheWholeBlocksOfEachFile() {
        Blocks blocks = new Blocks(FILES, 10);
        assertThat(blocks.count()).isEqualTo(2 + 0 + 1 + 3);
        assertThat(List.of(blocks.at(0), blocks.at(1), blocks.at(2), blocks.at(3), blocks.at(5)))
                .containsExactly(new Block(0, 0), new Block(0, 10), new Block(2, 0), new Block(3, 0), new Block(3, 20));
    }

    @Test
    void aBlockThatIsLargerThanAllFilesHasNoPlace() {
        Blocks blocks = new Blocks(FILES, 32);
        assertThat(blocks.count()).isZero();
        assertThatThrownBy(() -> blocks.at(0)).isInstanceOf(IndexOutOfBoundsException.class);
    }
}
