package dev.stoker.schemas.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.attack.Features;
import dev.stoker.schemas.attack.Golden;
import dev.stoker.schemas.avro.AvroOutput;
import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableByteArrayInput;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class LedgerTest {

    private static final byte[] SYNC = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
    private static final Source SOURCE = new Source(
            "0192f0c1-7e00-7000-8000-000000000001",
            3,
            "train",
            OrderSpec.defaults().toJson());

    private static final Consumer CONSUMER = new Consumer(
            "0b1c2d3e-0000-5000-8000-000000000001",
            "train",
            "default",
            "00112233445566778899aabbccddeeff",
            1_790_000_000_000L,
            1,
            2,
            0,
            1,
            0);

    private static final View VIEW = View.of(List.of("image", "label"), List.of("label"));

    private static List<LedgerRecord> records() {
        return List.of(
                new Subscription(1_790_000_000_001L, CONSUMER, 0, 1, 2, 500, "pad", SOURCE, VIEW.text()),
                new Receipts(
                        1_790_000_000_002L,
                        CONSUMER,
                        0,
                        VIEW.tag(),
                        List.of(
                                new Receipt(1, 0, false, 64, 0, 0x12345678, 64, 0x12345678),
                                new Receipt(3, 0, false, 32, 0, 0xFFFFFFFF, 0, 0xFFFFFFFF),
                                new Receipt(3, 1, true, 31, 1, 0, 31, 0))),
                new Receipts(1_790_000_000_003L, CONSUMER, 1, View.WHOLE_TAG, List.of()),
                new Subscription(
                        1_790_000_000_001L,
                        CONSUMER,
                        1,
                        1,
                        2,
                        500,
                        "pad",
                        SOURCE,
                        VIEW.text(),
                        "[[100,110],[200,200]]",
                        1));
    }

    private static byte[] write(List<LedgerRecord> records, int flushAfter) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        LedgerWriter writer = new LedgerWriter(out, SYNC);
        for (int i = 0; i < records.size(); i++) {
            writer.write(records.get(i));
            if (i + 1 == flushAfter) {
                writer.flush();
            }
        }
        writer.finish();
        return out.toByteArray();
    }

    private static List<LedgerRecord> read(byte[] file) throws IOException {
        LedgerReader reader = new LedgerReader(new ByteArrayInputStream(file), "/l/part-1");
        List<LedgerRecord> records = new ArrayList<>();
        for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
            records.add(next.get());
        }
        assertThat(reader.next()).isEmpty();
        return records;
    }

    @Test
    void readsBackWhatWasWritten() throws IOException {
        assertThat(read(write(records(), 0))).isEqualTo(records());
        assertThat(read(write(records(), 2))).isEqualTo(records());
        assertThat(read(write(List.of(), 0))).isEmpty();
    }

    @Test
    void aRecordKnowsThePartThatItComesFrom() throws IOException {
        UUID first = new UUID(1, 2);
        UUID second = new UUID(3, 4);
        LedgerReader reader = new LedgerReader(new ByteArrayInputStream(merged(first, second)), "/l/merged-1");
        assertThat(reader.next()).contains(records().get(0));
        assertThat(reader.part()).contains(first);
        assertThat(reader.next()).contains(records().get(1));
        assertThat(reader.part()).contains(first);
        assertThat(reader.next()).contains(records().get(2));
        assertThat(reader.part()).contains(second);
        assertThat(reader.next()).isEmpty();
    }

    private static byte[] merged(UUID first, UUID second) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        LedgerWriter writer = new LedgerWriter(out, SYNC);
        writer.beginPart(first);
        writer.write(records().get(0));
        writer.write(records().get(1));
        writer.beginPart(second);
        writer.write(records().get(2));
        writer.finish();
        return out.toByteArray();
    }

    @Test
    void readsBackManyBlocks(TestInfo test) {
        Rounds.of(test).seconds(0.2).run((random, round) -> readBackManyBlocks(random));
    }

    private static void readBackManyBlocks(Random random) throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            List<Receipt> receipts = new ArrayList<>();
            for (int r = random.nextInt(40); r > 0; r--) {
                receipts.add(new Receipt(
                        random.nextLong() >>> 1,
                        random.nextInt(100),
                        random.nextBoolean(),
                        random.nextInt(1000),
                        0,
                        random.nextInt(),
                        random.nextInt(1000),
                        random.nextInt()));
            }
            records.add(new Receipts(random.nextLong(), CONSUMER, random.nextInt(10), random.nextLong(), receipts));
        }

        byte[] file = write(records, 0);

        assertThat(file.length).isGreaterThan(3 * LedgerFormat.BLOCK_BYTES);
        assertThat(read(file)).isEqualTo(records);
    }

    @Test
    void writesTheGoldenFile() throws IOException {
        Golden.check("ledger-1.avro", write(records(), 2));
        assertThat(read(Golden.read("ledger-1.avro"))).isEqualTo(records());
        Golden.check("ledger-merged-1.avro", merged(new UUID(1, 2), new UUID(3, 4)));
    }

    @Test
    void everyDamageIsNoticed() throws IOException {
        ByteAttacks.all(write(records(), 0), LedgerTest::read);
        ByteAttacks.all(write(records(), 2), LedgerTest::read);
        ByteAttacks.all(merged(new UUID(1, 2), new UUID(3, 4)), LedgerTest::read);
    }

    @Test
    void aFileWithoutItsEndIsTruncated() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        LedgerWriter writer = new LedgerWriter(out, SYNC);
        writer.write(records().get(0));
        writer.flush();

        assertThatThrownBy(() -> read(out.toByteArray()))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("/l/part-1")
                .hasMessageContaining("truncated");
    }

    @Test
    void aMissingBlockIsNoticed() throws IOException {
        byte[] whole = write(records(), 2);
        byte[] header = LedgerFormat.header(SYNC);
        int secondBlock = ByteAttacks.indexOf(Arrays.copyOfRange(whole, header.length, whole.length), SYNC)
                + header.length
                + SYNC.length;
        byte[] cut = new byte[header.length + whole.length - secondBlock];
        System.arraycopy(header, 0, cut, 0, header.length);
        System.arraycopy(whole, secondBlock, cut, header.length, whole.length - secondBlock);

        assertThatThrownBy(() -> read(cut))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("the number of records");
    }

    @Test
    void aForgedBlockSizeCostsNoMemory() throws IOException {
        byte[] header = LedgerFormat.header(SYNC);
        for (long size : new long[] {1L << 40, LedgerFormat.MAX_BLOCK_BYTES, -1}) {
            AvroOutput out = new AvroOutput();
            out.writeFixed(header);
            out.writeLong(1);
            out.writeLong(size);
            out.writeFixed(new byte[100]);

            assertThatThrownBy(() -> read(out.toByteArray())).isInstanceOf(CorruptDataException.class);
        }
    }

    @Test
    void avroReadsIt() throws IOException {
        try (DataFileReader<GenericRecord> reader = new DataFileReader<>(
                new SeekableByteArrayInput(write(records(), 2)),
                new GenericDatumReader<>(null, null, new GenericData()))) {
            GenericRecord subscription = reader.next();
            assertThat(subscription.getSchema().getName()).isEqualTo("Subscription");
            assertThat(subscription.get("world_size")).isEqualTo(2);
            assertThat(subscription.get("tail")).hasToString("pad");
            GenericRecord receipts = reader.next();
            GenericRecord receipt = (GenericRecord) ((List<?>) receipts.get("entries")).get(1);
            assertThat(receipt.get("crc32c")).isEqualTo(0xFFFFFFFFL);
            reader.next();
            assertThat(reader.next().get("skip")).hasToString("[[100,110],[200,200]]");
            GenericRecord end = reader.next();
            assertThat(end.getSchema().getName()).isEqualTo("End");
            assertThat(end.get("records")).isEqualTo(4L);
            assertThat(reader.hasNext()).isFalse();
        }
    }

    @Test
    void aNewerFormatIsTooNew() throws IOException {
        byte[] file = write(records(), 0);
        int at = ByteAttacks.indexOf(file, "stoker.format".getBytes(StandardCharsets.US_ASCII)) + 13;
        assertThat(file[at + 1]).isEqualTo((byte) '1');
        file[at + 1] = '2';

        assertThatThrownBy(() -> read(file))
                .isInstanceOf(FormatTooNewException.class)
                .hasMessageContaining("version 2");
    }

    @Test
    void anotherFileIsForeign() throws IOException {
        byte[] file = ByteAttacks.replace(write(records(), 0), "stoker.format", "another.thing");

        assertThatThrownBy(() -> read(file)).isInstanceOf(ForeignFileException.class);
        assertThatThrownBy(() -> read("PAR1....".getBytes(StandardCharsets.US_ASCII)))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("is not a Stoker ledger file");
    }

    @Test
    void nothingFollowsTheEnd() throws IOException {
        LedgerWriter writer = new LedgerWriter(new ByteArrayOutputStream(), SYNC);
        writer.finish();

        assertThatThrownBy(() -> writer.write(records().get(0))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void refusesRecordsThatCannotBe() {
        assertThatThrownBy(() -> new Subscription(0, CONSUMER, 0, 0, 0, 1, "pad", SOURCE, VIEW.text()))
                .hasMessageContaining("by 0");
        for (String skip : List.of("", "[[1,0]]", "[[1,2],[3,4]]", "[[01,2]]", "[[1,2]]x", "[[1,99999999999999999]]")) {
            assertThatThrownBy(() -> new Subscription(0, CONSUMER, 0, 0, 1, 1, "pad", SOURCE, VIEW.text(), skip, -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("skipped");
        }
        for (long begin : new long[] {-2, 4}) {
            assertThatThrownBy(() -> new Subscription(0, CONSUMER, 0, 3, 1, 1, "pad", SOURCE, VIEW.text(), "[]", begin))
                    .hasMessageContaining("began at " + begin);
        }
        assertThatThrownBy(() -> new Subscription(0, CONSUMER, 0, 0, 1, 1, "wrap", SOURCE, VIEW.text()))
                .hasMessageContaining("'wrap'");
        assertThatThrownBy(() -> new Receipt(-1, 0, false, 1, 0, 0, 1, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Consumer("f", "s", "g", "x", 0, 2, 2, 0, 1, 0))
                .hasMessageContaining("Rank 2 of 2");
    }

    @Test
    void namesAFeatureThatItDoesNotKnowBeforeTheSchema() throws IOException {
        byte[] file = write(records(), 0);
        byte[] newer = Features.inAvro(file, Features.LIST);
        Features.assertNamed("/l/part-1", () -> read(newer));
        Features.assertNamed("/l/part-1", () -> read(ByteAttacks.replace(newer, "\"rank\"", "\"seat\"")));
        Features.assertMalformed("/l/part-1", () -> read(Features.inAvro(file, Features.MALFORMED)));
    }
}
