package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding.Kind;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Covers whole passes and the totals of the report. */
class AuditTest extends AuditFixture {

    @ParameterizedTest
    @CsvSource({
        "1, 1, PAD",
        "2, 1, PAD",
        "3, 1, PAD",
        "8, 1, PAD",
        "1, 2, PAD",
        "2, 3, PAD",
        "1, 1, KEEP",
        "3, 2, KEEP",
        "1, 1, DROP",
        "3, 1, DROP",
        "4, 2, DROP",
        "16, 1, PAD"
    })
    void wholeEpochsPass(int world, int workers, TailPolicy tail) throws IOException {
        AuditReport report =
                stream.write(stream.run(5, world, workers, tail, 0, 0, 3)).audit();

        clean(report);
        AuditReport.Pass pass = report.passes().get(0);
        assertThat(pass.batches()).isEqualTo(11);
        assertThat(pass.runs()).containsExactly(5L);
        assertThat(pass.epochs()).hasSize(3);
        for (AuditReport.Epoch epoch : pass.epochs()) {
            long delivered = tail == TailPolicy.DROP ? 10 / world * world : 11;
            assertThat(epoch.acknowledged()).isEqualTo(delivered);
            assertThat(epoch.leftOut()).isEqualTo(11 - delivered);
            assertThat(epoch.open().count()).isZero();
            assertThat(epoch.repeated()).isEqualTo(tail == TailPolicy.PAD ? (11 + world - 1) / world * world - 11 : 0);
        }
    }

    @Test
    void aStretchAtATimeSaysTheSame() throws IOException {
        stream.write(stream.part(5, 2, 2, TailPolicy.PAD, 0, 0, 2))
                .write(without(stream.run(6, 3, 1, TailPolicy.PAD, 0, 5, 2), 8));

        AuditReport whole = stream.audit();

        assertThat(whole.findings()).isNotEmpty();
        for (int receipts : new int[] {1, 2, 3, 5, 100}) {
            AuditReport cut = stream.audit(OptionalLong.empty(), receipts);
            assertThat(cut.passes()).isEqualTo(whole.passes());
            assertThat(cut.findings()).containsExactlyInAnyOrderElementsOf(whole.findings());
        }
    }

    @Test
    void anEmptyLedgerIsClean() throws IOException {
        clean(stream.audit());
        assertThat(stream.audit(OptionalLong.of(1), 10).isClean()).isFalse();
    }

    @Test
    void filesThatAreStillWrittenAreNotRead() throws IOException {
        byte[] half = TrainedStream.file(epoch());
        stream.ledger.createIfAbsent(".part-7-0.avro.inprogress.abc", half);
        stream.ledger.createIfAbsent("part-7-0.avro.inprogress.abc", half);

        assertThat(stream.audit().files()).isZero();
    }

    @Test
    void equalReceiptsCountOnce() throws IOException {
        AuditReport report = stream.write(epoch())
                .write(epoch())
                .write(epoch().subList(1, 2))
                .audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).acknowledged()).isEqualTo(11);
        assertThat(report.duplicates())
                .isEqualTo(2L * ((Receipts) epoch().get(1)).entries().size());
    }

    @Test
    void replicasAreJudgedEachByItself() throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        for (LedgerRecord entry : stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 3)) {
            Consumer c = entry.consumer();
            Consumer replica = new Consumer(c.feed(), c.stream(), c.group(), c.fingerprint(), c.run(), 0, 1, 0, 1, 1);
            records.add(
                    entry instanceof Subscription s
                            ? new Subscription(
                                    1, replica, 0, s.first(), s.stride(), s.count(), s.tail(), s.source(), s.view())
                            : new Receipts(1, replica, 0, ((Receipts) entry).viewTag(), ((Receipts) entry).entries()));
        }

        AuditReport report = stream.write(epoch()).write(records).audit();

        clean(report);
        assertThat(report.passes()).extracting(AuditReport.Pass::replica).containsExactly(0, 1);
        assertThat(report.passes().get(1).epochs().get(0).acknowledged()).isEqualTo(3);
    }

    @Test
    void ranksWithoutStepsLeaveNothing() throws IOException {
        AuditReport report =
                stream.write(stream.run(5, 16, 1, TailPolicy.DROP, 0, 0, 1)).audit();

        clean(report);
        assertThat(report.passes().get(0).epochs()).isEmpty();
    }

    @Test
    void manyFindingsAreCountedAndTheFirstKept() throws IOException {
        Receipt good = stream.receipts(0, TailPolicy.PAD, 4).get(0);
        List<LedgerRecord> records = change(epoch(), entries -> {
            List<Receipt> more = new ArrayList<>(entries);
            for (int i = 0; i < 5000; i++) {
                more.add(new Receipt(
                        100 + i, 0, false, good.rows(), 0, good.crc32c(), good.rows(), good.sourceCrc32c()));
            }
            return more;
        });

        AuditReport report = stream.write(records).audit();

        assertThat(report.counts()).containsEntry(Kind.FOREIGN, 5000L);
        assertThat(report.findings()).hasSize(Findings.KEPT_PER_KIND);
    }
}
