package dev.stoker.schemas.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UnitsTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | chunk | 0 chunks",
                "1 | chunk | 1 chunk",
                "2 | chunk | 2 chunks",
                "1234567 | sample | 1,234,567 samples",
                "1 | batch | 1 batch",
                "2 | batch | 2 batches",
                "3 | epoch | 3 epochs",
                "2 | class | 2 classes",
                "2 | index | 2 indexes",
                "1 | directory | 1 directory",
                "2 | directory | 2 directories",
                "2 | key | 2 keys"
            })
    void aNounHasTheFormOfItsCount(long count, String noun, String expected) {
        assertThat(Units.plural(count, noun)).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 B",
        "999, 999 B",
        "1000, 1.00 kB",
        "12345, 12.3 kB",
        "999499, 999 kB",
        "999500, 1.00 MB",
        "1234567890, 1.23 GB",
        "5000000000000000000, 5000 PB"
    })
    void bytesHaveThreeDigitsAndADecimalUnit(long bytes, String expected) {
        assertThat(Units.bytes(bytes)).isEqualTo(expected);
        assertThat(Units.rate(bytes)).isEqualTo(expected + "/s");
    }

    @ParameterizedTest
    @CsvSource({"0, 0 s", "59, 59 s", "60, 1 min 00 s", "185, 3 min 05 s", "7620, 2 h 07 min", "172800, 2 d 0 h"})
    void aTimeHasTwoUnitsAtMost(long seconds, String expected) {
        assertThat(Units.time(Duration.ofSeconds(seconds))).isEqualTo(expected);
    }

    @Test
    void mebibytesAreRoundedUp() {
        assertThat(Units.mebibytes(0)).isZero();
        assertThat(Units.mebibytes(1)).isEqualTo(1);
        assertThat(Units.mebibytes((1 << 20) + 1)).isEqualTo(2);
    }

    @Test
    void aTimeWithoutAUnitIsRefused() {
        assertThat(Units.parseTime("--older-than", "90m")).isEqualTo(Duration.ofMinutes(90));
        assertThat(Units.parseTime("--older-than", "0")).isZero();
        assertThatThrownBy(() -> Units.parseTime("--older-than", "90"))
                .hasMessage("option --older-than: 90: give a unit, for example 90 s");
        assertThatThrownBy(() -> Units.parseTime("--older-than", "90x"))
                .hasMessage("option --older-than: '90x' is not a time such as 90s, 30m, 24h or 7d");
    }
}
