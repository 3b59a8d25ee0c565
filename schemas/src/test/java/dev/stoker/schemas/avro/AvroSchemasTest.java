package dev.stoker.schemas.avro;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The schemas in {@code src/main/avro} match the files that Stoker writes. */
class AvroSchemasTest {
    private static final Path SCHEMAS = Path.of("src/main/avro");

    @ParameterizedTest
    @CsvSource({"log-entry.avsc, log-entry-1.avro", "ledger.avsc, ledger-1.avro"})
    void theSchemaFileIsTheSchemaOfOurFiles(String schema, String golden) throws IOException {
        File file = Path.of("src/test/resources/golden", golden).toFile();
        try (DataFileReader<Object> reader = new DataFileReader<>(file, new GenericDatumReader<>())) {
            assertThat(new Schema.Parser().parse(Files.readString(SCHEMAS.resolve(schema))))
                    .isEqualTo(reader.getSchema());
            assertThat(new ObjectMapper().readTree(SCHEMAS.resolve(schema).toFile()))
                    .isEqualTo(new ObjectMapper().readTree(reader.getMetaString("avro.schema")));
        }
    }

    @Test
    void everySchemaFileIsTested() throws IOException {
        try (Stream<Path> files = Files.list(SCHEMAS)) {
            List<String> names =
                    files.map(file -> file.getFileName().toString()).toList();
            assertThat(names).containsExactlyInAnyOrder("log-entry.avsc", "ledger.avsc");
        }
    }
}
