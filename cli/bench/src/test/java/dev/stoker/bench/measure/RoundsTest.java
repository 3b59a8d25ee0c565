package dev.stoker.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

class RoundsTest {

    @Test
    void theMedianIsTheMiddleOrTheMeanOfTheTwoMiddleRounds() {
        assertThat(Rounds.of(3, 1, 2).median()).isEqualTo(2);
        assertThat(Rounds.of(4, 1, 2, 3).median()).isEqualTo(2.5);
        assertThat(Rounds.of(7).median()).isEqualTo(7);
    }

    @Test
    void theSpreadIsRelativeToTheMedian() {
        Rounds rounds = Rounds.of(90, 100, 120);
        assertThat(rounds.min()).isEqualTo(90);
        assertThat(rounds.max()).isEqualTo(120);
        assertThat(rounds.spread()).isCloseTo(0.3, within(1e-12));
        assertThat(Rounds.of(0, 0).spread()).isZero();
    }

    @Test
    void theSpreadOfOneRoundIsUnknown() {
        assertThat(Rounds.of(7).spread()).isNaN();
    }

    @Test
    void jsonHasEveryRound() {
        Rounds rounds = Rounds.of(3, 1, 2);
        assertThat(Rounds.of(rounds.json())).isEqualTo(rounds);
        assertThat(rounds.json().path("median").asDouble()).isEqualTo(2);
    }

    @Test
    void noRoundIsNoMeasurement() {
        assertThatThrownBy(Rounds::of).isInstanceOf(IllegalArgumentException.class);
    }
}
