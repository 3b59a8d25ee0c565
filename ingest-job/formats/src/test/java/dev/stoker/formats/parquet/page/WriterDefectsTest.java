package dev.stoker.formats.parquet.page;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WriterDefectsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "parquet-cpp version 1.5.1-SNAPSHOT | true | false",
                "parquet-cpp-arrow version 2.0.0 | true | false",
                "parquet-cpp-arrow version 3.0.0 | false | false",
                "parquet-cpp-arrow version 26.0.1-SNAPSHOT | false | false",
                "parquet-mr version 1.2.8 (build 0123abc) | false | true",
                "parquet-mr version 1.2.8 (build | false | true",
                "parquet-mr version 1.2.9 | false | false",
                "parquet-mr version 1.10.1 (build x) | false | false",
                "parquet-mr | false | true",
                "parquet-mr compatible | false | false",
                "parquet-cpp version 1.5 | false | false",
                "parquet-rs version 1.0.0 | false | false",
                "DuckDB version v1.0.0 (build x) | false | false",
                "'' | false | false",
                " | false | false",
            })
    void knowsOldWritersByTheirNames(String createdBy, boolean flags, boolean omits) {
        assertThat(WriterDefects.of(createdBy)).isEqualTo(new WriterDefects(flags, omits));
    }
}
