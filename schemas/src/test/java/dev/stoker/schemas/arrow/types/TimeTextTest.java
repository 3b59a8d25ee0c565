package dev.stoker.schemas.arrow.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.testing.Rounds;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TimeTextTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "timestamp[s];1970-01-01T00:00;0",
                "timestamp[s];0001-01-01T00:00;-62135596800",
                "timestamp[us];9999-12-31T23:59:59.999999;253402300799999999",
                "timestamp[us,Europe/Berlin];2026-07-01T12:00:00.000001Z;1782907200000001",
                "timestamp[ns];1677-09-21T00:12:43.145224192;-9223372036854775808",
                "timestamp[ns,UTC];2262-04-11T23:47:16.854775807Z;9223372036854775807",
                "date;1969-12-31;-1",
                "date;9999-12-31;2932896",
                "time[s];23:59:59;86399",
                "time[ns];23:59:59.999999999;86399999999999"
            })
    void convertsTextAndNumbers(String type, String text, long number) {
        assertThat(TimeText.parse(FieldType.parse(type), text)).isEqualTo(number);
        assertThat(TimeText.format(FieldType.parse(type), number)).isEqualTo(text);
    }

    @Test
    void readsOtherFormsOfTheSameInstant() {
        FieldType type = FieldType.parse("timestamp[ms,America/New_York]");
        long expected = TimeText.parse(type, "2026-01-31T12:00Z");
        assertThat(TimeText.parse(type, "2026-01-31T13:00:00+01:00")).isEqualTo(expected);
        assertThat(TimeText.parse(type, "2026-01-31 12:00:00.000Z")).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "timestamp[s]|2026-01-31T12:00:00Z|is not timestamp[s]; expected ISO 8601 such as",
                "timestamp[s,UTC]|2026-01-31T12:00:00|is not timestamp[s,UTC]; expected ISO 8601 such as",
                "timestamp[s]|2026-01-31T12:00:00.5|is finer than the unit s of its type",
                "timestamp[s,UTC]|2026-01-31|is not timestamp[s,UTC]; expected ISO 8601 such as",
                "timestamp[s]|2026-02-30T00:00|is not timestamp[s]; expected ISO 8601 such as",
                "timestamp[ns]|9999-01-01T00:00|is out of range for timestamp[ns]",
                "date|2026-01-31T00:00|is not date; expected ISO 8601 such as 2026-01-31",
                "date|31.1.2026|is not date; expected ISO 8601 such as 2026-01-31",
                "time[ms]|24:00|is not time[ms]; expected ISO 8601 such as 23:59:59.5",
                "time[ms]|12:00:00.0001|is finer than the unit ms of its type"
            })
    void refusesWhatIsNoValue(String type, String text, String why) {
        assertThatThrownBy(() -> TimeText.parse(FieldType.parse(type), text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("'" + text + "' " + why);
    }

    @Test
    void readsWhatItWrote(TestInfo test) {
        Rounds.of(test).seconds(0.2).atLeast(500).run((random, round) -> {
            for (String text :
                    new String[] {"timestamp[ms]", "timestamp[us,UTC]", "timestamp[ns]", "time[us]", "date"}) {
                FieldType type = FieldType.parse(text);
                long number = type.width() == 4
                        ? random.nextInt()
                        : type instanceof TimeType time
                                ? random.nextLong(time.unit().perDay())
                                : random.nextLong() >> random.nextInt(20, 60);
                String written = TimeText.format(type, number);
                assertThat(TimeText.parse(type, written)).as(written).isEqualTo(number);
            }
        });
    }

    @Test
    void showsNumbersThatNoCalendarReaches() {
        assertThat(TimeText.format(FieldType.parse("timestamp[s]"), Long.MAX_VALUE))
                .isEqualTo("9223372036854775807 timestamp[s]");
    }
}
