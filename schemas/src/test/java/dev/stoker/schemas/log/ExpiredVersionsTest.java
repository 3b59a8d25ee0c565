package dev.stoker.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.ExpiredVersions.Range;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpiredVersionsTest {

    private static final UUID DATASET = UUID.fromString("5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d");

    private static LogEntry entry(long version, Operation operation, Map<String, String> properties) {
        return new LogEntry(
                DATASET,
                version,
                "ingest-" + version,
                operation,
                1_800_000_000_000L + version,
                "zoë@host",
                List.of(),
                List.of(),
                Map.of(),
                properties);
    }

    private static LogEntry expiry(long version, String expired) {
        return entry(version, Operation.EXPIRE, Map.of(LogEntry.EXPIRED, expired));
    }

    /** Version 5 has expired 1 and 3, version 6 has expired 2. */
    private static ChunkTable table() throws CorruptDataException {
        ChunkTable table = ChunkTable.empty(DATASET);
        for (long version = 1; version <= 4; version++) {
            table = table.with(entry(version, Operation.ABANDON, Map.of()));
        }
        return table.with(List.of(expiry(5, "1-1,3-3"), expiry(6, "2-2")));
    }

    @Test
    void writesTheGoldenFiles() throws IOException {
        Golden.check("log-entry-expire-1.avro", expiry(7, "1-3,5-5").encode());
        LogEntry entry = LogEntry.decode(Golden.read("log-entry-expire-1.avro"), "file");
        assertThat(entry).isEqualTo(expiry(7, "1-3,5-5"));
        assertThat(entry.expired().ranges()).containsExactly(new Range(1, 3, 7), new Range(5, 5, 7));

        Golden.check("chunk-table-expired-1.arrow", table().encode());
        ExpiredVersions expired = ChunkTable.decode(Golden.read("chunk-table-expired-1.arrow"), "file")
                .expired();
        assertThat(expired).hasToString("1-1@5,2-2@6,3-3@5").isEqualTo(table().expired());
    }

    @Test
    void everyDamageIsNoticed() throws IOException {
        ByteAttacks.all(expiry(7, "1-3").encode(), file -> LogEntry.decode(file, "file"));
        ByteAttacks.all(table().encode(), file -> ChunkTable.decode(file, "file"));
    }

    @Test
    void namesTheEntryOfEachVersion() {
        ExpiredVersions expired = ExpiredVersions.parse("1-40@57,42-42@60");

        assertThat(expired.by(1)).hasValue(57);
        assertThat(expired.by(40)).hasValue(57);
        assertThat(expired.contains(41)).isFalse();
        assertThat(expired.by(42)).hasValue(60);
        assertThat(expired.contains(43)).isFalse();
        assertThat(expired.oldestKept()).isEqualTo(41);
        assertThat(ExpiredVersions.NONE.oldestKept()).isEqualTo(1);
        assertThat(ExpiredVersions.parse("")).isEqualTo(ExpiredVersions.NONE);
        assertThat(ExpiredVersions.parse("2-3@9").oldestKept()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0-1", "2-1", "1-7", "1-2,2-3", "3-3,1-1", "1-2@5", "1-2, 4-4", "01-2", "a", "1-2,"})
    void aWrongListIsRefused(String text) {
        assertThatThrownBy(() -> expiry(7, text)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aVersionIsExpiredOnce() throws StokerException {
        ChunkTable table = table();
        assertThatThrownBy(() -> table.with(expiry(7, "2-4")))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("versions 2 to 4 overlap with versions 3 to 3");
        assertThat(table.with(expiry(7, "4-4")).expired()).hasToString("1-1@5,2-2@6,3-3@5,4-4@7");
    }

    @Test
    void anotherOperationExpiresNothing() {
        LogEntry entry = entry(7, Operation.INGEST, Map.of(LogEntry.EXPIRED, "1-2"));
        assertThat(entry.expired().isEmpty()).isTrue();
    }
}
