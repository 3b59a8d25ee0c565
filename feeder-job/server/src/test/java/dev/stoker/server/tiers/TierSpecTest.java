package dev.stoker.server.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TierSpecTest {
    @ParameterizedTest
    @CsvSource({
        "memory:8g, 8589934592",
        "memory:8 GB, 8589934592",
        "memory:512m, 536870912",
        "memory:100b, 100",
        "memory:100 bytes, 100",
        "memory:2TiB, 2199023255552"
    })
    void readsSizes(String text, long bytes) {
        assertThat(TierSpec.parse(text)).isEqualTo(new TierSpec(Optional.empty(), Optional.of(bytes)));
    }

    @Test
    void readsDirectoriesWithColons() {
        TierSpec tier = TierSpec.parse("disk:/nvme/a:b:400g");
        assertThat(tier.directory()).contains("/nvme/a:b");
        assertThat(tier.bytes()).contains(400L << 30);
        assertThat(tier).hasToString("disk:/nvme/a:b:400g");
        assertThat(TierSpec.parse("memory:auto"))
                .isEqualTo(TierSpec.autoMemory())
                .hasToString("memory:auto");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "disk",
                "disk:",
                "disk:/nvme",
                "disk:nvme:4g",
                "memory:lots",
                "memory:-1",
                "tape:1g",
                "memory:0",
                "memory:99999999999t"
            })
    void saysWhatIsWrong(String text) {
        assertThatThrownBy(() -> TierSpec.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("(?s).*(expected memory:8g|too large|too small).*");
    }

    @Test
    void aSizeNeedsAUnit() {
        assertThatThrownBy(() -> TierSpec.parse("disk:/nvme:400"))
                .hasMessage("tier 'disk:/nvme:400': 400: give a unit, for example 400 MiB");
        TierSpec odd = TierSpec.parse("memory:1000001 b");
        assertThat(TierSpec.parse(odd.toString())).isEqualTo(odd);
    }

    @Test
    void noneIsNoTierAndOneMemoryIsEnough() {
        assertThat(TierSpec.parse(List.of("none"))).isEmpty();
        assertThatThrownBy(() -> TierSpec.parse(List.of("memory:1g", "memory:2g")))
                .hasMessageContaining("only one memory tier");
        assertThatThrownBy(() -> TierSpec.parse(List.of("disk:/a:1g", "disk:/a:2g")))
                .hasMessageContaining("only one tier per directory");
    }

    @Test
    void memoryThatDoesNotFitIsRefusedWithTheExactSetting() throws InsufficientMemoryException {
        DirectBudget budget = new DirectBudget(1L << 30, 4L << 30);
        assertThatCode(() -> budget.require(1 << 29, 1 << 29, 0)).doesNotThrowAnyException();
        assertThatThrownBy(() -> budget.require(1L << 30, 1L << 30, 0))
                .hasMessageContainingAll(
                        "2048 MiB of direct memory",
                        "taskmanager.memory.task.off-heap.size to 2112m",
                        "-XX:MaxDirectMemorySize=2112m");
        assertThatThrownBy(() -> budget.require(1L << 30, 4L << 30, 0))
                .hasMessageContainingAll("the machine or container has 4096 MiB left");
        assertThat(budget.auto(256 << 20)).isEqualTo(768L << 20);
        assertThat(new DirectBudget(8L << 30, 4L << 30).auto(1L << 30)).isEqualTo(1L << 30);
    }
}
