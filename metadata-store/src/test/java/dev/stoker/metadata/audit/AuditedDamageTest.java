package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding.Kind;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Window;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Covers damaged and lost files of the ledger and of the dataset. */
class AuditedDamageTest extends AuditFixture {

    @Test
    void everyTruncationAndFlippedBitOfALedgerIsFound() throws IOException {
        byte[] good = TrainedStream.file(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 2));
        stream.ledger.createIfAbsent("part-1-0.avro", good);
        clean(stream.audit());
        for (int length = 0; length < good.length; length++) {
            assertDamageIsFound(Arrays.copyOf(good, length));
        }
        for (int at = 0; at < good.length; at++) {
            byte[] bad = good.clone();
            bad[at] ^= (byte) (1 << (at % 8));
            assertDamageIsFound(bad);
        }
    }

    private void assertDamageIsFound(byte[] bad) throws IOException {
        stream.ledger.corrupt("part-1-0.avro", bad);
        AuditReport report = stream.auditHere();
        assertThat(report.counts()).containsKey(Kind.DAMAGED_LEDGER);
        assertThat(report.findings().get(report.findings().size() - 1).message())
                .contains("part-1-0.avro");
    }

    @Test
    void aDamagedFileDoesNotHideTheOthers() throws IOException {
        byte[] first = TrainedStream.file(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 2));
        stream.ledger.createIfAbsent("part-a.avro", Arrays.copyOf(first, first.length - 3));
        AuditReport report = stream.write(epoch()).audit();

        assertThat(only(report).kind()).isEqualTo(Kind.DAMAGED_LEDGER);
        assertThat(report.passes().get(0).epochs().get(0).acknowledged()).isEqualTo(11);
    }

    @Test
    void aDamagedHeadIsNamedOnceAndTheRestIsJudged() throws IOException {
        List<LedgerRecord> records = changeNumber(
                epoch(),
                6,
                r -> forged(r, r.repeated(), r.rows() + 1, r.skipped(), r.crc32c(), r.sourceRows(), r.sourceCrc32c()));
        flip(2, 1000);

        AuditReport report = stream.write(records).audit();

        assertThat(report.counts()).containsEntry(Kind.DAMAGED_DATASET, 1L);
        assertThat(report.findings().get(report.findings().size() - 1).message())
                .contains(ChunkNames.path(SampleDatasets.id(2)));
    }

    @Test
    void skippedRowsAreListedIfTheyAreDamaged() throws IOException {
        EpochOrder order = stream.order.epoch(0);
        DeliveredBatch batch = Delivery.batch(order.numbering(), TailPolicy.PAD, 2);
        Window window = order.lane(batch.pieces().get(0).lane()).window(0);
        int at = (int) batch.pieces().get(0).firstRow() + 1;
        int chunk = window.chunkAt(at);
        List<LedgerRecord> honest = epoch();
        Receipt skipping = stream.receipt(order, batch, 0, List.of(1));
        List<LedgerRecord> records = changeNumber(honest, 2, r -> skipping);

        stream.write(records);
        assertThat(only(stream.audit()).message()).contains("1 rows were skipped, 0 are damaged");

        byte[] head = stream.store.readAll(ChunkNames.path(SampleDatasets.id(chunk)), 1 << 20);
        flip(chunk, payloadPosition(head, chunk, window.rowAt(at)));
        AuditReport report = stream.audit();

        clean(report);
        AuditReport.Skipped skipped =
                report.passes().get(0).epochs().get(0).skipped().get(0);
        assertThat(skipped.number()).isEqualTo(2);
        assertThat(skipped.samples()).singleElement().asString().contains("row " + window.rowAt(at) + " of chunk");
    }

    private void flip(int chunk, int at) throws IOException {
        String name = ChunkNames.path(SampleDatasets.id(chunk));
        byte[] bytes = stream.store.readAll(name, 1 << 20);
        bytes[at] ^= 4;
        stream.store.corrupt(name, bytes);
    }

    private int payloadPosition(byte[] file, int chunk, int row) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        bytes.limit(stream.order.chunks().headLength(chunk));
        return ChunkHead.parse(bytes, file.length, "chunk").payloadPosition(1, row);
    }

    @Test
    void aLedgerWithoutTheFileThatTheSignNamesHasLostReceipts() throws IOException {
        AuditReport empty = stream.auditSigned("part-0-0.avro");
        assertThat(only(empty).kind()).isEqualTo(Kind.DAMAGED_LEDGER);
        assertThat(only(empty).message()).contains("part-0-0.avro", "the sign");

        stream.write(epoch());
        clean(stream.auditSigned("part-0-0.avro"));
        only(stream.auditSigned("part-9-0.avro"));
    }

    @Test
    void aLedgerWhoseLastEpochWasDeletedHasLostReceipts() throws IOException {
        stream.write(epoch());
        clean(stream.audit());
        AuditReport report = stream.auditSigned("part-0-0.avro", "part-1-0.avro");
        assertThat(only(report).kind()).isEqualTo(Kind.DAMAGED_LEDGER);
        assertThat(only(report).message())
                .contains("receipts of epoch 1 of feed", "are missing", "part-1-0.avro", "the sign", "from a copy");
    }
}
