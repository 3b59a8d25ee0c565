package dev.stoker.feeder.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FeedOptionsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--batch-size=0 | option --batch-size: 0 is not between 1 and 65535",
                "--batch-size=65536 | option --batch-size: 65536 is not between 1 and 65535",
                "--lanes=0 | option --lanes: 0 is not between 1 and 65535",
                "--lanes=70000 | option --lanes: 70000 is not between 1 and 65535",
                "--seed=-1 | option --seed: -1 is less than 0",
                "--max-sessions=0 | option --max-sessions: 0 is less than 1",
                "--origin-concurrency=0 | option --origin-concurrency: 0 is less than 1",
                "--shuffle=all | option --shuffle: 'all' is not one of window, none",
                "--lane-order=any | option --lane-order: 'any' is not one of mixed, fixed",
                "--on-corrupt=no | option --on-corrupt: 'no' is not one of fail, skip",
                "--cache-lifetime=x | option --cache-lifetime: 'x' is not one of feed, node",
                "--cache-access=x | option --cache-access: 'x' is not one of user, group",
                "--as-of=noon | option --as-of: 'noon' is not a time such as 2026-11-20, 2026-11-20T10:00:00Z or 7d",
            })
    void aWrongValueIsReportedOnceWithItsOption(String option, String problem) {
        assertThatThrownBy(() -> FeedOptions.parse("./photos", option))
                .isInstanceOfSatisfying(
                        InvalidFeedException.class,
                        e -> assertThat(e.problems()).containsExactly(problem));
    }

    @Test
    void wrongValuesAreReportedTogether() {
        assertThatThrownBy(() -> FeedOptions.parse(
                        "./photos", "--batch-size=0", "--seed=-1", "--shuffle=all", "--tier=paper:1g"))
                .isInstanceOfSatisfying(
                        InvalidFeedException.class,
                        e -> assertThat(e.problems())
                                .hasSize(4)
                                .anyMatch(problem -> problem.contains("--batch-size"))
                                .anyMatch(problem -> problem.contains("--seed"))
                                .anyMatch(problem -> problem.contains("--shuffle"))
                                .anyMatch(problem -> problem.contains("paper")));
    }

    @Test
    void aTimeSelectsTheVersionOfStreamsWithoutOne() {
        FeedOptions options =
                FeedOptions.parse("./photos:val", "--as-of", "2026-11-20T10:00Z", "old=./photos@3", "./more");
        assertThat(options.streams())
                .extracting(stream -> stream.dataset().asOf())
                .containsExactly(
                        Optional.of(Instant.parse("2026-11-20T10:00:00Z")),
                        Optional.empty(),
                        Optional.of(Instant.parse("2026-11-20T10:00:00Z")));
        assertThatThrownBy(() -> FeedOptions.parse("./photos@3", "--version=2"))
                .hasMessageContaining("each stream has a version already");
        assertThatThrownBy(() -> FeedOptions.parse("./photos", "--version=2", "--as-of=7d"))
                .hasMessageContaining("--version and --as-of give two versions");
        assertThatThrownBy(() -> FeedOptions.parse("./photos", "--version=2", "--follow"))
                .hasMessageContaining("is fixed to version 2");
        assertThat(FeedOptions.parse("./photos:val", "--version", "best", "old=./photos@3")
                        .streams())
                .extracting(stream -> stream.dataset().version().orElseThrow().text())
                .containsExactly("best", "3");
        assertThatThrownBy(() -> FeedOptions.parse("./photos@3", "--as-of=7d"))
                .hasMessageContaining("each stream has a version already");
        assertThatThrownBy(() -> FeedOptions.parse("./photos", "--as-of=7d", "--follow"))
                .hasMessageContaining("--as-of fixes the version");
    }

    @Test
    void optionsOfTheOrderReachTheOrderSpec() {
        FeedOptions options = FeedOptions.parse(
                "./photos",
                "--batch-size=65535",
                "--lanes=65535",
                "--seed=9",
                "--shuffle-window=5b",
                "--shuffle=none",
                "--lane-order=fixed");
        assertThat(options.order()).isEqualTo(new OrderSpec(9, 65_535, 65_535, 5, ShufflePolicy.NONE, LaneOrder.FIXED));
        assertThat(options.withLanes(2).order()).isEqualTo(options.order().withLanes(2));
    }
}
