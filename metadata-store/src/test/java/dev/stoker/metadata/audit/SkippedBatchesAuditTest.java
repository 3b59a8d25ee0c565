package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.EpochBatches;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Covers batches that trainers leave out on purpose. An epoch has 11 batches, the last one short. */
class SkippedBatchesAuditTest extends AuditFixture {

    private static final SkipList SKIP = SkipList.of(List.of(new SkipList.Range(0, 4, 6), new SkipList.Range(0, 9, 9)));

    /** What a run leaves of an epoch, each worker having done {@code steps} steps. */
    private List<LedgerRecord> part(
            long run, int world, int workers, TailPolicy tail, SkipList skip, long epoch, long start, long steps)
            throws IOException {
        SkippedBatches skipped = skip.in(epoch, stream.order.size());
        long left = tail == TailPolicy.DROP ? skipped.wholeBatches(stream.order.size()) : skipped.left();
        List<LedgerRecord> records = new ArrayList<>();
        for (int rank = 0; rank < world; rank++) {
            for (int worker = 0; worker < workers; worker++) {
                Participant participant = new Participant(rank, world, worker, workers);
                // A delivery of slots.
                Delivery slots = new Delivery(new EpochSize(left, 1), tail, participant, skipped.slot(start));
                Subscription s = stream.subscription(run, epoch, stream.delivery(tail, participant, start));
                records.add(new Subscription(
                        s.atMs(),
                        s.consumer(),
                        epoch,
                        skipped.number(slots.first()),
                        slots.stride(),
                        slots.steps(),
                        s.tail(),
                        s.source(),
                        s.view(),
                        skip.text(epoch),
                        Subscription.NONE));
                List<Receipt> receipts = new ArrayList<>();
                for (long step = 0; step < Math.min(steps, slots.steps()); step++) {
                    receipts.addAll(stream.receipts(epoch, tail, skipped.number(slots.number(step))));
                }
                Receipts any = stream.receipts(run, epoch, stream.delivery(tail, participant, start), 0);
                records.add(new Receipts(any.atMs(), any.consumer(), epoch, any.viewTag(), receipts));
            }
        }
        return records;
    }

    private static EpochBatches batches(long count, long... firstsAndLasts) {
        List<BatchRange> ranges = new ArrayList<>();
        for (int i = 0; i < firstsAndLasts.length; i += 2) {
            ranges.add(new BatchRange(firstsAndLasts[i], firstsAndLasts[i + 1]));
        }
        return new EpochBatches(count, ranges);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1, PAD",
        "2, 1, PAD",
        "3, 2, PAD",
        "5, 1, PAD",
        "1, 1, KEEP",
        "3, 2, KEEP",
        "2, 1, DROP",
        "4, 1, DROP"
    })
    void whatIsSkippedIsNotMissing(int world, int workers, TailPolicy tail) throws IOException {
        AuditReport report = stream.write(part(5, world, workers, tail, SKIP, 0, 0, 99))
                .write(part(5, world, workers, tail, SKIP, 1, 0, 99))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.skippedBatches()).isEqualTo(batches(4, 4, 6, 9, 9));
        long delivered = tail == TailPolicy.DROP ? 6 / world * world : 7;
        assertThat(epoch.acknowledged()).isEqualTo(delivered);
        assertThat(epoch.leftOut()).isEqualTo(7 - delivered);
        assertThat(epoch.repeated()).isEqualTo(tail == TailPolicy.PAD ? (7 + world - 1) / world * world - 7 : 0);
        assertThat(epoch.missing() + epoch.open().count() + epoch.asserted().count())
                .isZero();
        assertThat(report.passes().get(0).epochs().get(1).skippedBatches().count())
                .isZero();
    }

    @Test
    void aBatchThatNobodyAskedToSkipIsMissing() throws IOException {
        for (long lost : new long[] {3, 7, 8}) {
            List<LedgerRecord> records = new ArrayList<>();
            for (LedgerRecord entry : part(5, 2, 1, TailPolicy.KEEP, SKIP, 0, 0, 99)) {
                records.add(
                        entry instanceof Receipts r
                                ? new Receipts(
                                        r.atMs(),
                                        r.consumer(),
                                        0,
                                        r.viewTag(),
                                        r.entries().stream()
                                                .filter(receipt -> receipt.number() != lost)
                                                .toList())
                                : entry);
            }
            create();
            AuditReport report = stream.write(records)
                    .write(part(5, 2, 1, TailPolicy.KEEP, SKIP, 1, 0, 1))
                    .audit();

            assertThat(report.findings()).singleElement().satisfies(finding -> {
                assertThat(finding.kind()).isEqualTo(Finding.Kind.MISSING);
                assertThat(finding.message()).contains("batch " + lost + " is missing");
            });
            assertThat(report.passes().get(0).epochs().get(0).skippedBatches().count())
                    .isEqualTo(4);
        }
    }

    @Test
    void aRunThatResumesBeforeTheRangeSupersedesWhatWasDelivered() throws IOException {
        AuditReport report = stream.write(part(5, 2, 1, TailPolicy.PAD, SkipList.NONE, 0, 0, 3))
                .write(part(6, 3, 1, TailPolicy.PAD, SKIP, 0, 3, 99))
                .audit(OptionalLong.of(1), 3);

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.acknowledged()).isEqualTo(7);
        assertThat(epoch.skippedBatches()).isEqualTo(batches(4, 4, 6, 9, 9));
        assertThat(epoch.superseded()).isEqualTo(3);
    }

    @Test
    void aRunThatResumesBehindTheRangeChangesNothingBeforeIt() throws IOException {
        AuditReport report = stream.write(part(5, 1, 1, TailPolicy.PAD, SkipList.NONE, 0, 0, 8))
                .write(part(6, 2, 1, TailPolicy.PAD, SKIP, 0, 8, 99))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.acknowledged()).isEqualTo(10);
        assertThat(epoch.skippedBatches()).isEqualTo(batches(1, 9, 9));
    }

    @Test
    void aWholeEpochCanBeSkipped() throws IOException {
        SkipList skip = SkipList.of(List.of(new SkipList.Range(1, 0, 99)));
        List<LedgerRecord> records = new ArrayList<>();
        for (long epoch = 0; epoch < 3; epoch++) {
            records.addAll(part(5, 2, 1, TailPolicy.PAD, skip, epoch, 0, 99));
        }
        AuditReport report = stream.write(records).audit(OptionalLong.of(3), 100);

        clean(report);
        assertThat(report.passes().get(0).epochs())
                .extracting(epoch -> epoch.skippedBatches().count())
                .containsExactly(0L, 11L, 0L);
    }

    @Test
    void receiptsOfBatchesThatTheirRunSkipsAreForeign() throws IOException {
        List<LedgerRecord> records = part(5, 1, 1, TailPolicy.KEEP, SKIP, 0, 0, 99);
        Receipts r = (Receipts) records.get(1);
        records.add(new Receipts(r.atMs(), r.consumer(), 0, r.viewTag(), stream.receipts(0, TailPolicy.KEEP, 5)));
        AuditReport report = stream.write(records).audit();

        assertThat(report.findings())
                .singleElement()
                .satisfies(finding -> assertThat(finding.kind()).isEqualTo(Finding.Kind.FOREIGN));
    }
}
