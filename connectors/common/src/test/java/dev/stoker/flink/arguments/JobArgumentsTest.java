package dev.stoker.flink.arguments;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;

class JobArgumentsTest {

    private static final ConfigOption<Integer> SIZE =
            ConfigOptions.key("job.batch-size").intType().defaultValue(64);
    private static final ConfigOption<Boolean> OPEN =
            ConfigOptions.key("job.insecure").booleanType().defaultValue(false);
    private static final ConfigOption<Duration> IDLE =
            ConfigOptions.key("job.idle.timeout").durationType().defaultValue(Duration.ofHours(1));
    private static final ConfigOption<MemorySize> WINDOW =
            ConfigOptions.key("job.window").memoryType().defaultValue(MemorySize.ofMebiBytes(1));
    private static final ConfigOption<List<String>> NAMES =
            ConfigOptions.key("job.names").stringType().asList().noDefaultValue();
    private static final ConfigOption<List<String>> ROOTS =
            ConfigOptions.key("job.roots").stringType().asList().defaultValues();

    private static JobArguments parse(String... args) {
        return JobArguments.parse(args, "job.", List.of(SIZE, OPEN, IDLE, WINDOW, NAMES, ROOTS));
    }

    @Test
    void readsValuesFlagsAndPositionalArguments() {
        JobArguments parsed = parse("a", "--batch-size", "8", "--insecure", "b", "--idle-timeout=5 min", "--", "--c");

        assertThat(parsed.problems()).isEmpty();
        assertThat(parsed.options().get(SIZE)).isEqualTo(8);
        assertThat(parsed.options().get(OPEN)).isTrue();
        assertThat(parsed.options().get(IDLE)).isEqualTo(Duration.ofMinutes(5));
        assertThat(parsed.positional()).containsExactly("a", "b", "--c");
    }

    @Test
    void reportsAllProblemsTogether() {
        JobArguments parsed = parse("--bath-size", "8", "--batch-size", "many", "--idle-timeout");

        assertThat(parsed.problems())
                .containsExactly(
                        "unknown option --bath-size, did you mean --batch-size?",
                        "option --batch-size: many is not a valid value (a valid one is 64)",
                        "option --idle-timeout needs a value");
        assertThat(parse("--idles", "8").problems()).contains("unknown option --idles, did you mean --idle-timeout?");
        assertThat(parsed.options().get(SIZE)).isEqualTo(64);
    }

    /** Flink would take them as milliseconds and bytes, and most users mean seconds and mebibytes. */
    @Test
    void aTimeAndASizeNeedAUnit() {
        JobArguments parsed = parse("--idle-timeout", "30", "--window=64", "--batch-size", "8");

        assertThat(parsed.problems())
                .containsExactly(
                        "option --idle-timeout: 30: give a unit, for example 30 s",
                        "option --window: 64: give a unit, for example 64 MiB");
        assertThat(parsed.options().get(IDLE)).isEqualTo(Duration.ofHours(1));
        assertThat(parse("--window", "8388608").problems())
                .containsExactly("option --window: 8388608: give a unit, for example 8388608 bytes");
        for (String good : List.of("0", "8388608 bytes", "8 MiB", "8m", "8kb")) {
            assertThat(parse("--window", good).problems()).as(good).isEmpty();
        }
        for (String good : List.of("0", "30s", "30 s", "5 min", "100 ms")) {
            assertThat(parse("--idle-timeout", good).problems()).as(good).isEmpty();
        }
    }

    @Test
    void leavesABooleanItsExplicitValue() {
        assertThat(parse("--insecure", "false").options().get(OPEN)).isFalse();
        assertThat(parse("--insecure", "x").positional()).containsExactly("x");
    }

    @Test
    void keepsEachValueOfARepeatedList() {
        JobArguments parsed = parse("--names", "a", "--roots", "x", "--names=b", "--roots", "y");

        assertThat(parsed.options().getOptional(NAMES)).contains(List.of("a", "b"));
        assertThat(parsed.options().get(ROOTS)).containsExactly("x", "y");
        assertThat(parse().options().getOptional(NAMES)).isEmpty();
    }
}
