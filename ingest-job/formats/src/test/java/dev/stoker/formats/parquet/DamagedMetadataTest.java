package dev.stoker.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.formats.Batches;
import dev.stoker.formats.DamagedFileException;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.Rows;
import dev.stoker.formats.parquet.write.ParquetRowWriter;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Metadata that gives columns other types is read, or the file is refused: it is never ignored. */
class DamagedMetadataTest {

    private static byte[] file() throws Exception {
        List<Field> fields = List.of(
                Field.nullable("when", FieldType.parse("timestamp[us,Europe/Berlin]")),
                Field.nullable("label", FieldType.parse("categorical")));
        return Batches.of(fields, List.of(List.of("k", 1L, "cat"))).write(new ParquetRowWriter(), 1);
    }

    @Test
    void theMetadataGivesTheTypes() throws Exception {
        try (RowFile open = new ParquetFormat().open(Rows.file("a.parquet", file()), ReadLimits.DEFAULT)) {
            assertThat(Rows.columns(open).stream().map(column -> column.get(1)))
                    .contains("timestamp[us,Europe/Berlin]", "categorical");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"key\" | !\"key\" | its metadata stoker is not JSON; export the dataset again",
                "\"categorical\" | \"categorized\" | its metadata stoker names a type of column label that this release"
                        + " does not know; update Stoker",
                "ARROW:schema.. | ARROW:schema!! | its metadata ARROW:schema is no Arrow schema"
            })
    void damagedMetadataIsAnError(String good, String bad, String reason) throws Exception {
        String file = new String(file(), StandardCharsets.ISO_8859_1);
        String wrong;
        if (good.startsWith("ARROW")) {
            // The value follows its length.
            int value = file.indexOf("/////", file.indexOf("ARROW:schema"));
            wrong = file.substring(0, value) + "!" + file.substring(value + 1);
        } else {
            assertThat(file).contains(good);
            wrong = file.replace(good, bad);
        }
        byte[] bytes = wrong.getBytes(StandardCharsets.ISO_8859_1);
        assertThatThrownBy(() -> new ParquetFormat().open(Rows.file("a.parquet", bytes), ReadLimits.DEFAULT))
                .isInstanceOf(DamagedFileException.class)
                .hasMessageStartingWith("a.parquet")
                .hasMessageContaining(reason);
    }
}
