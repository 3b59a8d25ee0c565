package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;

/** The stream that each test audits, changes to its ledger, and checks of the report. */
abstract class AuditFixture {

    TrainedStream stream;

    @BeforeEach
    void create() throws IOException {
        // 43 samples, 11 batches, the last ones joint and the very last short.
        stream = new TrainedStream(9, 5, 7, 11, 3, 8);
    }

    static List<LedgerRecord> change(List<LedgerRecord> records, UnaryOperator<List<Receipt>> change) {
        return records.stream()
                .map(entry -> entry instanceof Receipts r
                        ? new Receipts(r.atMs(), r.consumer(), r.epoch(), r.viewTag(), change.apply(r.entries()))
                        : entry)
                .toList();
    }

    static List<LedgerRecord> changeNumber(List<LedgerRecord> records, long number, UnaryOperator<Receipt> change) {
        return change(
                records,
                entries -> entries.stream()
                        .map(r -> r.number() == number ? change.apply(r) : r)
                        .toList());
    }

    static List<LedgerRecord> without(List<LedgerRecord> records, long number) {
        return change(
                records,
                entries -> entries.stream().filter(r -> r.number() != number).toList());
    }

    List<LedgerRecord> epoch() throws IOException {
        return stream.run(5, 1, 1, TailPolicy.PAD, 0, 0, 1);
    }

    static Receipt forged(Receipt r, boolean repeated, int rows, int skipped, int crc, int sourceRows, int sourceCrc) {
        return new Receipt(r.number(), r.piece(), repeated, rows, skipped, crc, sourceRows, sourceCrc);
    }

    static Finding only(AuditReport report) {
        assertThat(report.findings()).hasSize(1);
        return report.findings().get(0);
    }

    static void clean(AuditReport report) {
        assertThat(report.findings()).isEmpty();
        assertThat(report.isClean()).isTrue();
    }
}
