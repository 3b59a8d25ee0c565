package dev.stoker.schemas.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.Arguments;

class CellsTest {
    private static final List<Arguments> ALL = IntStream.range(0, 40)
            .mapToObj(i -> Arguments.of("row " + i / 8, "column " + i % 8))
            .toList();

    private static List<Arguments> drawn(long seed) {
        return Cells.drawn(ALL, seed, List.of(Cells.at(0), Cells.at(1)));
    }

    @Test
    void drawsAQuarterWithACellOfEachRowAndColumn() {
        for (long seed = 0; seed < 100; seed++) {
            List<Arguments> drawn = drawn(seed);
            assertThat(drawn).hasSize(10).doesNotHaveDuplicates().isSubsetOf(ALL);
            assertThat(drawn.stream().map(Cells.at(0)).distinct()).hasSize(5);
            assertThat(drawn.stream().map(Cells.at(1)).distinct()).hasSize(8);
        }
    }

    @Test
    void drawsTheSameWithTheSameSeedAndOthersWithOthers() {
        assertThat(drawn(7)).isEqualTo(drawn(7));
        assertThat(IntStream.range(0, 20).mapToObj(CellsTest::drawn).distinct()).hasSizeGreaterThan(15);
        assertThat(IntStream.range(0, 100)
                        .boxed()
                        .flatMap(seed -> drawn(seed).stream())
                        .distinct())
                .hasSize(40);
    }

    @Test
    void drawsAtLeastOneCell() {
        assertThat(Cells.drawn(List.of("only"), 3, List.of())).containsExactly("only");
        assertThat(Cells.drawn(List.of("a", "b", "c", "d"), 3, List.of())).hasSize(1);
        assertThat(Cells.drawn(List.of("a", "b", "c", "d", "e"), 3, List.of())).hasSize(2);
    }

    @Test
    void theFullTierHasAllCells() {
        String tier = System.getProperty("test.tier");
        try {
            System.setProperty("test.tier", "full");
            assertThat(Cells.drawn(Stream.of(1, 2, 3, 4, 5))).containsExactly(1, 2, 3, 4, 5);
            System.setProperty("test.tier", "default");
            assertThat(Cells.drawn(Stream.of(1, 2, 3, 4, 5))).hasSize(2);
        } finally {
            if (tier == null) {
                System.clearProperty("test.tier");
            } else {
                System.setProperty("test.tier", tier);
            }
        }
    }
}
