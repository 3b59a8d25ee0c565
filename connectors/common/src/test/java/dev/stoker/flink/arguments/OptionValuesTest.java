package dev.stoker.flink.arguments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;

class OptionValuesTest {

    @Test
    void sizesAndTimesHaveTheLargestUnitThatFits() {
        assertThat(List.of(0L, 917_504L, 8L << 20, 3L << 30, 1L << 40, 1000L).stream()
                        .map(bytes -> OptionValues.text(new MemorySize(bytes))))
                .containsExactly("0 bytes", "896 KiB", "8 MiB", "3 GiB", "1 TiB", "1000 bytes");
        assertThat(List.of(0, 10, 60, 900, 5400, 7200, 86_400).stream()
                        .map(seconds -> OptionValues.text(Duration.ofSeconds(seconds))))
                .containsExactly("0 s", "10 s", "1 min", "15 min", "90 min", "2 h", "24 h");
        assertThat(OptionValues.text(64)).isEqualTo("64");
    }

    @Test
    void readsTheSizesThatHelpShowsAndThoseOfFlink() {
        for (String text : List.of("8 MiB", "8MiB", "8 mib", "8mb", "8m", "8388608 b", " 8 MiB ")) {
            assertThat(OptionValues.bytes("--size", text)).as(text).isEqualTo(8 << 20);
        }
        assertThatThrownBy(() -> OptionValues.bytes("--size", "8 MiBs")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OptionValues.bytes("--size", "MiB"))
                .hasMessage("option --size: 'MiB' is not a size such as 8 MiB");
        assertThatThrownBy(() -> OptionValues.bytes("--size", " 64"))
                .hasMessage("option --size: 64: give a unit, for example 64 MiB");
    }

    @Test
    void anOptionOfAJobTakesAllOfThem() {
        OptionHeading job = new OptionHeading("x.", "Job");
        JobOption<MemorySize> size =
                job.size("size").defaultValue(new MemorySize(1 << 20)).withDescription("Size.");
        JobOption<String> name = job.text("name", "NAME").withDescription("Name.");
        JobArguments given = JobArguments.parse(new String[] {"--size", "3 GiB", "--name=3 GiB"}, List.of(size, name));
        assertThat(given.problems()).isEmpty();
        assertThat(given.options().get(size)).isEqualTo(new MemorySize(3L << 30));
        assertThat(given.options().get(name)).isEqualTo("3 GiB");
        assertThat(JobArguments.parse(new String[] {"--size=3 cats"}, List.of(size))
                        .problems())
                .containsExactly("option --size: 3 cats is not a valid value (a valid one is 1 MiB)");
    }
}
