package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.EpochBatches;
import dev.stoker.metadata.audit.report.Finding.Kind;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Covers batches without receipts, which are missing or still open. */
class MissingBatchesTest extends AuditFixture {

    @Test
    void aBatchThatWasPassedOverIsMissing() throws IOException {
        for (long number = 0; number < 10; number++) {
            TrainedStream one = new TrainedStream(9, 5, 7, 11, 3, 8);

            AuditReport report = one.write(without(epoch(), number)).audit();

            assertThat(only(report).kind()).isEqualTo(Kind.MISSING);
            assertThat(only(report).message())
                    .contains("epoch 0, batch " + number + " is missing: the same rank acknowledged");
            assertThat(report.passes().get(0).epochs().get(0).missing()).isEqualTo(1);
        }
    }

    @Test
    void aPieceThatWasPassedOverIsMissing() throws IOException {
        // The last batch is joint.
        long number = 10;
        assertThat(stream.receipts(0, TailPolicy.PAD, number).size()).isGreaterThan(1);

        AuditReport report = stream.write(change(
                        epoch(),
                        entries -> entries.stream()
                                .filter(r -> r.number() != number || r.piece() != 1)
                                .toList()))
                .write(stream.run(5, 1, 1, TailPolicy.PAD, 1, 0, 1))
                .audit();

        assertThat(only(report).message()).contains("batch 10 is missing");
    }

    @Test
    void theLastBatchIsOpenUntilABatchOfTheNextEpochIsAcknowledged() throws IOException {
        List<LedgerRecord> records = without(epoch(), 10);
        AuditReport open = stream.write(records).audit();

        clean(open);
        assertThat(open.passes().get(0).epochs().get(0).open())
                .isEqualTo(new EpochBatches(1, List.of(new BatchRange(10, 10))));
        assertThat(only(stream.audit(OptionalLong.of(1), 10)).kind()).isEqualTo(Kind.MISSING);

        stream.write(stream.run(5, 1, 1, TailPolicy.PAD, 1, 0, 1));

        assertThat(only(stream.audit()).message())
                .contains("epoch 0, batch 10 is missing: the same rank acknowledged batches of a later epoch in run 5");
    }

    @Test
    void readingAheadBeginsNothing() throws IOException {
        // The trainer stopped at batch 6 and had already subscribed to the next epoch.
        AuditReport report = stream.write(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 7))
                .write(stream.part(5, 1, 1, TailPolicy.PAD, 1, 0, 0))
                .audit();

        clean(report);
        List<AuditReport.Epoch> epochs = report.passes().get(0).epochs();
        assertThat(epochs.get(0).open().ranges()).containsExactly(new BatchRange(7, 10));
        assertThat(epochs.get(1).open().count()).isEqualTo(11);
    }

    @Test
    void ranksOfUnevenSpeedLeaveOpenBatches() throws IOException {
        List<LedgerRecord> slow = stream.part(5, 4, 1, TailPolicy.PAD, 0, 0, 1);
        List<LedgerRecord> whole = stream.part(5, 4, 1, TailPolicy.PAD, 0, 0, 100);
        List<LedgerRecord> next = stream.part(5, 4, 1, TailPolicy.PAD, 1, 0, 2);
        List<LedgerRecord> unread = stream.part(5, 4, 1, TailPolicy.PAD, 1, 0, 0);

        // Ranks 0 and 2 are in the second epoch, rank 1 reads ahead, rank 3 does not.
        AuditReport report = stream.write(whole.subList(0, 2))
                .write(slow.subList(2, 4))
                .write(whole.subList(4, 6))
                .write(slow.subList(6, 8))
                .write(next.subList(0, 2))
                .write(unread.subList(2, 4))
                .write(next.subList(4, 6))
                .audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).open().ranges())
                .containsExactly(new BatchRange(5, 5), new BatchRange(7, 7), new BatchRange(9, 9));
    }

    @Test
    void aRankThatWentOnPassedOverTheEpochItNeverAskedFor() throws IOException {
        List<LedgerRecord> first = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 100);
        List<LedgerRecord> second = stream.part(5, 2, 1, TailPolicy.PAD, 1, 0, 1);

        AuditReport report =
                stream.write(first.subList(0, 2)).write(second.subList(2, 4)).audit();

        assertThat(report.counts()).containsEntry(Kind.MISSING, 5L);
        assertThat(report.findings().get(0).message())
                .contains("batch 1 is missing: the same rank acknowledged batches of a later epoch in run 5");
    }

    @Test
    void aLostBatchIsMissingIfItsRankGoesOnWithOtherWorkers() throws IOException {
        AuditReport report = stream.write(without(stream.part(5, 1, 2, TailPolicy.PAD, 0, 0, 100), 10))
                .write(stream.part(5, 1, 1, TailPolicy.PAD, 1, 0, 1))
                .audit();

        assertThat(only(report).message()).contains("batch 10 is missing");
    }

    @Test
    void anEpochThatWasPassedOverIsMissing() throws IOException {
        stream.write(epoch()).write(stream.run(5, 1, 1, TailPolicy.PAD, 2, 0, 1));

        assertThat(only(stream.audit()).message()).contains("epoch 1: all 11 batches missing");
    }

    @Test
    void anEpochInProgressIsJudgedUpToItsPosition() throws IOException {
        AuditReport report =
                stream.write(stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 3)).audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).acknowledged()).isEqualTo(6);
        assertThat(report.passes().get(0).epochs().get(0).open().ranges()).containsExactly(new BatchRange(6, 10));
    }

    @Test
    void aRankThatHasNotComeLeavesItsBatchesOpen() throws IOException {
        List<LedgerRecord> rankZero =
                stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 100).subList(0, 2);

        AuditReport report = stream.write(rankZero).audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).acknowledged()).isEqualTo(6);
        assertThat(report.passes().get(0).epochs().get(0).open().count()).isEqualTo(5);
        assertThat(only(stream.audit(OptionalLong.of(1), 10)).batches()).isEqualTo(5);
    }
}
