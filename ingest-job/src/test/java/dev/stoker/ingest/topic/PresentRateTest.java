package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PresentRateTest {
    private final PresentRate rate = new PresentRate();

    @Test
    void isTheRateOfTheLastSecondsAndNotSinceTheStart() {
        assertThat(rate.of(500, Duration.ofMillis(500))).isEqualTo(1000);
        for (int second = 1; second <= 20; second++) {
            rate.of(1000L * second, Duration.ofSeconds(second));
        }
        assertThat(rate.of(20_500, Duration.ofMillis(20_500))).isEqualTo(1000);
        for (int second = 21; second <= 40; second++) {
            rate.of(20_500, Duration.ofSeconds(second));
        }
        assertThat(rate.of(20_500, Duration.ofSeconds(41)))
                .as("nothing arrives")
                .isZero();
        assertThat(rate.of(30_500, Duration.ofSeconds(42))).isEqualTo(1000);
    }
}
