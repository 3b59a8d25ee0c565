package dev.stoker.ingest.rows.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.stoker.formats.RowColumn;
import dev.stoker.formats.RowSchema;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Columns of a plan that a file does not have any more, because it was replaced meanwhile. */
class RowMappingTest {
    private static final RowSchema SCHEMA =
            new RowSchema(List.of(new RowColumn("i", ScalarType.INT64, false, "test", RowColumn.Role.NONE)), List.of());

    private static RowMapping mapping(List<String> key, String... columns) {
        return new RowMapping(
                new ArrayList<>(Arrays.stream(columns)
                        .map(name -> new RowMapping.Mapped(name, name, "int64", false, false))
                        .toList()),
                new ArrayList<>(key),
                null,
                null);
    }

    @Test
    void aFieldIsLeftOutWithTheOption() throws IOException {
        Throwable said = catchThrowable(() -> mapping(List.of(), "i", "my v").bind(SCHEMA, Map.of(), "a.csv"));
        assertThat(Advice.in(said.getMessage(), "--without")).containsExactly("--without", "my v");
        assertThat(mapping(List.of(), "i").bind(SCHEMA, Map.of(), "a.csv").fields())
                .containsExactly(0);
    }

    @Test
    void aKeyCannotBeLeftOut() {
        assertThatThrownBy(() -> mapping(List.of("id"), "i").bind(SCHEMA, Map.of(), "a.csv"))
                .hasMessage("the file a.csv has no column id, which the files before it have; the key needs it: add it,"
                        + " or ingest the file apart");
    }
}
