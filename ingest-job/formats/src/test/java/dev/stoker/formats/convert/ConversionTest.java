package dev.stoker.formats.convert;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.types.FieldType;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConversionTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "int32 | int64 | EXACT",
                "int64 | int32 | CHECKED",
                "uint32 | int64 | EXACT",
                "uint32 | int32 | CHECKED",
                "int32 | uint64 | CHECKED",
                "uint64 | int64 | CHECKED",
                "uint8 | uint64 | EXACT",
                "int32 | float64 | EXACT",
                "uint32 | float64 | EXACT",
                "int64 | float64 | CHECKED",
                "int16 | float32 | EXACT",
                "int32 | float32 | CHECKED",
                "int8 | bfloat16 | EXACT",
                "int16 | bfloat16 | CHECKED",
                "float32 | float64 | EXACT",
                "float16 | float32 | EXACT",
                "bfloat16 | float32 | EXACT",
                "float16 | bfloat16 | BY_FIELD",
                "float64 | float32 | BY_FIELD",
                "float64 | int64 | IMPOSSIBLE",
                "int32[] | int64[] | EXACT",
                "int64[] | int32[] | CHECKED",
                "float32[] | float64?[] | EXACT",
                "float32[] | float64[3] | CHECKED",
                "float32[3] | float64[] | EXACT",
                "float32[3] | float64[3] | EXACT",
                "float32[3] | float32[] | EXACT",
                "float32[] | float32?[] | EXACT",
                "float32?[] | float32[] | CHECKED",
                "float32[][] | float64[][] | EXACT",
                "float32[][] | float64[] | IMPOSSIBLE",
                "float32[] | float64[][] | IMPOSSIBLE",
                "utf8[] | utf8?[] | BY_FIELD",
                "int32 | int64[] | IMPOSSIBLE",
                "timestamp[ms] | timestamp[us,UTC] | IMPOSSIBLE",
                "timestamp[ns] | timestamp[s] | CHECKED",
                "time[ms] | time[us] | CHECKED",
                "time[ms] | timestamp[ms] | IMPOSSIBLE",
                "date | timestamp[ms] | IMPOSSIBLE",
                "decimal(7,2) | decimal(9,3) | EXACT",
                "decimal(7,2) | decimal(8,3) | EXACT",
                "decimal(7,2) | decimal(7,3) | CHECKED",
                "utf8 | categorical | CHECKED",
                "utf8 | int64 | IMPOSSIBLE",
                "int64 | categorical | BY_FIELD",
                "bool | int64 | IMPOSSIBLE",
                "int64 | bool | BY_FIELD",
                "uint64 | categorical | CHECKED",
                "bool | categorical | CHECKED",
                "date | categorical | IMPOSSIBLE",
                "float64[] | float32[] | CHECKED",
                "float64[] | int32[] | IMPOSSIBLE",
                "binary[] | utf8[] | BY_FIELD",
                "binary | utf8 | BY_FIELD",
                "int64 | timestamp[ms] | BY_FIELD",
                "int32 | date | BY_FIELD",
                "uint64 | date | IMPOSSIBLE",
                "utf8 | date | CHECKED",
                "utf8 | decimal(5,2) | CHECKED",
                "int64 | decimal(5,2) | CHECKED",
                "timestamp[us,Asia/Tokyo] | timestamp[ms,UTC] | CHECKED",
                "utf8 | utf8 | NONE",
            })
    void saysWhichTypesHoldTheValuesOfOthers(String from, String to, Conversion expected) {
        assertThat(Conversion.of(FieldType.parse(from), FieldType.parse(to))).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "int32 | int64 | int64",
                "uint32 | int32 | ",
                "int32 | float64 | float64",
                "int64 | float64 | ",
                "float32 | float64 | float64",
                "timestamp[s] | timestamp[us] | timestamp[us]",
                "timestamp[us] | timestamp[ns] | ",
                "timestamp[ms] | timestamp[us,UTC] | ",
                "time[us] | time[ns] | time[ns]",
                "utf8 | categorical | utf8",
                "timestamp[us,UTC] | timestamp[us,Europe/Berlin] | timestamp[us,UTC]",
                "timestamp[us,Asia/Tokyo] | timestamp[us,Europe/Berlin] | timestamp[us,UTC]",
                "float32[3] | float32[] | float32[]",
                "float32[3] | float32[4] | ",
                "utf8 | int64 | ",
                "int32[] | int64[] | int64[]",
            })
    void findsTheTypeThatHoldsBoth(String a, String b, String common) {
        assertThat(Conversion.common(FieldType.parse(a), FieldType.parse(b)).map(FieldType::canonical))
                .isEqualTo(Optional.ofNullable(common));
        assertThat(Conversion.common(FieldType.parse(b), FieldType.parse(a)).map(FieldType::canonical))
                .isEqualTo(Optional.ofNullable(common));
    }
}
