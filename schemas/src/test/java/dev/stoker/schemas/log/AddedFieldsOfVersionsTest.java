package dev.stoker.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.chunk.AddedFields;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AddedFieldsOfVersionsTest {

    private static final UUID DATASET = UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");
    private static final Field SCORE = Field.nullable("score", ScalarType.FLOAT64);
    private static final Field REVIEWER = Field.nullable("reviewer ä \"x\"", ScalarType.CATEGORICAL);

    private static LogEntry entry(long version, Operation operation, Map<String, String> properties) {
        return new LogEntry(
                DATASET,
                version,
                "update-" + version,
                operation,
                1_800_000_000_000L + version,
                "zoë@host",
                List.of(),
                List.of(),
                Map.of(),
                properties);
    }

    private static LogEntry adding(long version, Field... fields) {
        return entry(version, Operation.UPDATE, LogEntry.properties(Map.of(), AddedFields.of(List.of(fields))));
    }

    private static ChunkTable table() throws CorruptDataException {
        return ChunkTable.empty(DATASET).with(List.of(adding(1, SCORE), adding(2, SCORE, REVIEWER)));
    }

    @Test
    void writesTheGoldenFiles() throws IOException {
        Golden.check("log-entry-fields-1.avro", adding(2, SCORE, REVIEWER).encode());
        LogEntry entry = LogEntry.decode(Golden.read("log-entry-fields-1.avro"), "file");
        assertThat(entry.addedFields().fields()).containsExactly(SCORE, REVIEWER);

        Golden.check("chunk-table-fields-1.arrow", table().encode());
        assertThat(ChunkTable.decode(Golden.read("chunk-table-fields-1.arrow"), "file")
                        .added()
                        .fields())
                .containsExactly(SCORE, REVIEWER);
    }

    @Test
    void aVersionHasTheFieldsOfAllEntriesInTheirOrder() throws IOException {
        ChunkTable table = table();
        assertThat(table.added().fields()).containsExactly(SCORE, REVIEWER);
        ChunkTable later = ChunkTable.decode(table.encode(), "file").with(entry(3, Operation.INGEST, Map.of()));
        assertThat(later.added().fields()).containsExactly(SCORE, REVIEWER);
        assertThat(later.stream("train").added()).isEqualTo(later.added());
        assertThat(ChunkTable.empty(DATASET).added().isEmpty()).isTrue();
    }

    @Test
    void onlyUpdatesAndRecoveriesAddFields() throws IOException {
        Map<String, String> property = LogEntry.properties(Map.of(), AddedFields.of(List.of(SCORE)));
        assertThat(entry(1, Operation.RECOVERED, property).addedFields().fields())
                .containsExactly(SCORE);
        assertThat(entry(1, Operation.INGEST, property).addedFields().isEmpty()).isTrue();
        assertThatThrownBy(() -> entry(1, Operation.UPDATE, Map.of(LogEntry.FIELDS, "[7]")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void twoTypesOfOneFieldAreCorrupt() throws IOException {
        ChunkTable table = table();
        assertThatThrownBy(() -> table.with(adding(3, Field.nullable("score", ScalarType.UTF8))))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("field 'score' has the type float64");
    }

    @Test
    void everyDamageIsNoticed() throws IOException {
        ByteAttacks.all(adding(2, SCORE, REVIEWER).encode(), file -> LogEntry.decode(file, "file"));
        ByteAttacks.all(table().encode(), file -> ChunkTable.decode(file, "file"));
    }

    @Test
    void aNameMayContainTheMarkOfTheSelfChecksum() throws IOException {
        Field marked = Field.nullable("a stoker.crc32c=00000000", ScalarType.BOOL);
        ChunkTable table = ChunkTable.empty(DATASET).with(adding(1, marked));
        assertThat(ChunkTable.decode(table.encode(), "file").added().fields()).containsExactly(marked);
    }
}
