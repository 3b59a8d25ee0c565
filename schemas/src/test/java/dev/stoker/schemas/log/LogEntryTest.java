package dev.stoker.schemas.log;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableByteArrayInput;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.util.Utf8;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class LogEntryTest {

    private static void read(byte[] file) throws IOException {
        LogEntry.decode(file, "/d/_stoker/log/7.avro");
    }

    @Test
    void readsBackWhatWasWritten() throws IOException {
        LogEntry entry = LogEntries.full();

        assertThat(LogEntry.decode(entry.encode(), "file")).isEqualTo(entry);
    }

    @Test
    void readsBackAnEmptyEntry() throws IOException {
        LogEntry entry = LogEntries.adding(1);

        assertThat(LogEntry.decode(entry.encode(), "file")).isEqualTo(entry);
    }

    @Test
    void readsBackManyChunks(TestInfo test) {
        Rounds.of(test).seconds(0.2).run((random, round) -> readBackManyChunks(random));
    }

    private static void readBackManyChunks(Random random) throws IOException {
        List<AddedChunk> chunks = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            chunks.add(new AddedChunk(
                    i,
                    new UUID(random.nextLong(), random.nextLong()),
                    i % 3 == 0 ? "val" : "train",
                    1 + random.nextInt(Integer.MAX_VALUE),
                    Integer.MAX_VALUE,
                    random.nextInt(),
                    1 + random.nextInt(Integer.MAX_VALUE),
                    random.nextInt(),
                    random.nextInt(Integer.MAX_VALUE)));
        }
        LogEntry entry = LogEntries.adding(1, chunks.toArray(new AddedChunk[0]));

        assertThat(LogEntry.decode(entry.encode(), "file")).isEqualTo(entry);
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("log-entry-1.avro", LogEntries.full().encode());
    }

    @Test
    void readsTheGoldenFile() throws IOException {
        assertThat(LogEntry.decode(Golden.read("log-entry-1.avro"), "file")).isEqualTo(LogEntries.full());
    }

    @Test
    void avroReadsIt() throws IOException {
        LogEntry entry = LogEntries.full();
        try (DataFileReader<GenericRecord> reader = new DataFileReader<>(
                new SeekableByteArrayInput(entry.encode()), new GenericDatumReader<>(null, null, new GenericData()))) {
            assertThat(reader.getSchema()).isEqualTo(new Schema.Parser().parse(LogFormat.SCHEMA));
            assertThat(reader.getMetaString("stoker.self")).startsWith("stoker.crc32c=");
            GenericRecord record = reader.next();
            assertThat(reader.hasNext()).isFalse();
            assertThat(record.get("format")).isEqualTo(1);
            assertThat(record.get("dataset")).hasToString(LogEntries.DATASET.toString());
            assertThat(record.get("version")).isEqualTo(7L);
            assertThat(record.get("operation")).hasToString("replace");
            List<?> added = (List<?>) record.get("added");
            GenericRecord chunk = (GenericRecord) added.get(1);
            assertThat(added).hasSize(2);
            assertThat(chunk.get("ordinal")).isEqualTo(11L);
            assertThat(chunk.get("crc32c")).isEqualTo(0xF000_000BL);
            ByteBuffer id = ByteBuffer.wrap(((GenericData.Fixed) chunk.get("id")).bytes());
            assertThat(new UUID(id.getLong(), id.getLong()))
                    .isEqualTo(entry.added().get(1).id());
            List<?> removed = (List<?>) record.get("removed");
            assertThat(((GenericRecord) removed.get(0)).get("rows")).isNull();
            assertThat(((GenericRecord) removed.get(1)).get("rows")).isEqualTo(List.of(0, 7, 300));
            Map<?, ?> classes = (Map<?, ?>) record.get("classes");
            assertThat((List<?>) classes.get(new Utf8("label")))
                    .extracting(Object::toString)
                    .contains("Katze", "😀");
        }
    }

    @Test
    void everyDamageIsNoticed() {
        ByteAttacks.all(LogEntries.full().encode(), LogEntryTest::read);
    }

    @Test
    void everyDamageThatKeepsTheChecksumRightEndsInATypedErrorOrAnotherEntry() throws IOException {
        byte[] file = LogEntries.full().encode();
        int mark = ByteAttacks.indexOf(file, "stoker.crc32c=".getBytes(StandardCharsets.US_ASCII));
        for (int bit = 0; bit < 8 * file.length; bit++) {
            if (bit / 8 >= mark && bit / 8 < mark + 22) {
                continue;
            }
            byte[] forged = file.clone();
            forged[bit / 8] ^= (byte) (1 << (bit % 8));
            try {
                assertThat(LogEntry.decode(ByteAttacks.reseal(forged), "file")).isNotEqualTo(LogEntries.full());
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                assertThat(e).hasMessageContaining("file");
            }
        }
    }

    @Test
    void aNewerFormatIsTooNew() {
        byte[] file = LogEntries.full().encode();
        int at = ByteAttacks.indexOf(file, LogEntries.DATASET.toString().getBytes(StandardCharsets.US_ASCII));
        // Before the text stand its length and the format, each one byte.
        file[at - 2] = 4;

        assertThatThrownBy(() -> read(ByteAttacks.reseal(file)))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessage("/d/_stoker/log/7.avro has format version 2; this release reads versions up to 1;"
                        + " update Stoker to read it");
    }

    @Test
    void anotherAvroFileIsForeign() {
        assertThatThrownBy(() -> read(ByteAttacks.reseal(
                        ByteAttacks.replace(LogEntries.full().encode(), "stoker.self", "stoker.selb"))))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("is not a Stoker log entry");
        assertThatThrownBy(() -> read("PAR1 something".getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(ForeignFileException.class);
    }

    @Test
    void namesAndPropertiesMayHoldTheMarkOfTheChecksum() throws IOException {
        LogEntry entry = LogEntries.full();
        LogEntry marked = new LogEntry(
                entry.dataset(),
                1,
                "x",
                Operation.INGEST,
                0,
                "me",
                List.of(),
                List.of(),
                Map.of("label", List.of("stoker.crc32c=00000000")),
                Map.of("source", "stoker.crc32c=1"));

        assertThat(LogEntry.decode(marked.encode(), "file").encode()).isEqualTo(marked.encode());
    }

    @Test
    void classesAreOrderedByCodePoint() {
        assertThat(ClassOrder.INSTANCE.compare("\uFFFD", "😀")).isNegative();
        assertThat("\uFFFD".compareTo("😀")).isPositive();
        assertThat(List.of("b", "a", "", "aa", "A", "é", "😀", "\uE000").stream()
                        .sorted(ClassOrder.INSTANCE)
                        .toList())
                .containsExactly("", "A", "a", "aa", "b", "é", "\uE000", "😀");
    }

    @Test
    void refusesWhatIsNotInOrder() {
        AddedChunk chunk = LogEntries.chunk(1, "train", 1);
        assertThatThrownBy(() -> LogEntries.adding(1, chunk, chunk)).hasMessageContaining("ascending ordinal");
        assertThatThrownBy(() -> LogEntries.adding(0)).hasMessageContaining("start at 1");
        assertThatThrownBy(() -> RemovedRows.of(1, 2, 2)).hasMessageContaining("do not ascend");
        assertThatThrownBy(() -> RemovedRows.of(1)).hasMessageContaining("No rows");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowBeforeTheSchema() throws IOException {
        byte[] file = LogEntries.full().encode();
        byte[] newer = Features.inAvro(file, Features.LIST);
        Features.assertNamed("/d/_stoker/log/7.avro", () -> read(ByteAttacks.reseal(newer)));
        byte[] otherSchema = ByteAttacks.replace(newer, "committed_by", "committed_at");
        Features.assertNamed("/d/_stoker/log/7.avro", () -> read(ByteAttacks.reseal(otherSchema)));
        Features.assertMalformed(
                "/d/_stoker/log/7.avro", () -> read(ByteAttacks.reseal(Features.inAvro(file, Features.MALFORMED))));
    }
}
