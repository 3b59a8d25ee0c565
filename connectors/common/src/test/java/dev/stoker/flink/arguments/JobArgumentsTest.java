package dev.stoker.flink.arguments;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.Test;

class JobArgumentsTest {

    private static final OptionHeading JOB = new OptionHeading("job.", "Job");
    private static final JobOption<Integer> SIZE =
            JOB.number("batch-size").defaultValue(64).within(1, 100).withDescription("Samples.");
    private static final JobOption<Boolean> OPEN = JOB.flag("insecure").withDescription("Open.");
    private static final JobOption<Duration> IDLE = JOB.time("idle-timeout")
            .defaultValue(Duration.ofHours(1))
            .atLeast(100, "is not at least 100 ms")
            .withDescription("Time.");
    private static final JobOption<MemorySize> WINDOW = JOB.size("window")
            .defaultValue(MemorySize.ofMebiBytes(1))
            .within(0, 1L << 40, "is too large")
            .withDescription("Bytes.");
    private static final JobOption<List<String>> NAMES =
            JOB.texts("names", "NAME").withDescription("Names.");
    private static final JobOption<List<String>> ROOTS =
            JOB.texts("roots", "DIRECTORY").withDescription("Roots.");
    private static final JobOption<String> MODE =
            JOB.choice("mode", "fast", "exact").defaultValue("fast").withDescription("Mode.");

    private static JobArguments parse(String... args) {
        return JobArguments.parse(args, JOB.options());
    }

    @Test
    void anOptionDeclaresWhatHelpShows() {
        assertThat(SIZE.key()).isEqualTo("job.batch-size");
        assertThat(JOB.options()).containsExactly(SIZE, OPEN, IDLE, WINDOW, NAMES, ROOTS, MODE);
        assertThat(JOB.options())
                .extracting(JobOption::label)
                .containsExactly("N", "", "TIME", "SIZE", "NAME", "DIRECTORY", "fast|exact");
        assertThat(JOB.options())
                .extracting(option -> option.defaultText().orElse("-"))
                .containsExactly("64", "-", "1 h", "1 MiB", "-", "-", "fast");
        assertThat(JOB.without(OPEN).named("Other").options())
                .doesNotContain(OPEN)
                .hasSize(6);
        assertThat(JOB.options()).contains(OPEN);
    }

    @Test
    void reportsValuesOutsideOfARange() {
        GivenOptions given = parse("--batch-size", "101", "--idle-timeout=5 ms", "--window", "2 tb", "--mode", "slow")
                .options();
        List<String> problems = new ArrayList<>();
        JOB.options().forEach(option -> given.check(option, problems::add));
        given.choice(MODE, MODE.values(), problems::add);
        assertThat(problems)
                .containsExactly(
                        "option --batch-size: 101 is not between 1 and 100",
                        "option --idle-timeout: 5 ms is not at least 100 ms",
                        "option --window: 2199023255552 bytes is too large",
                        "option --mode: slow is not fast or exact");
        assertThat(SIZE.nearest(101)).isEqualTo(100);
        assertThat(SIZE.nearest(-1)).isEqualTo(1);
        assertThatThrownBy(() -> JOB.number("n").defaultValue(0).within(1, 2).withDescription("N."))
                .hasMessage("the default of --n is not one of its values");
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
