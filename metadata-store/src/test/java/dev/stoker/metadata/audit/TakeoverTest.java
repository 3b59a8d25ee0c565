package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.EpochBatches;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Covers later runs that take over an epoch at a position. */
class TakeoverTest extends AuditFixture {

    @Test
    void aLaterRunTakesOverFromItsPosition() throws IOException {
        // Run 5 has acknowledged 0 … 7; run 9, of three ranks, resumes at 6.
        AuditReport report = stream.write(stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 4))
                .write(stream.run(9, 3, 1, TailPolicy.PAD, 0, 6, 2))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.acknowledged()).isEqualTo(11);
        assertThat(epoch.superseded()).isEqualTo(2);
        assertThat(epoch.open().count()).isZero();
        assertThat(report.passes().get(0).runs()).containsExactly(5L, 9L);
    }

    @Test
    void aLaterRunMustHaveWhatItTookOver() throws IOException {
        // Run 5 had batch 7, but run 9 began before it and does not have it.
        AuditReport report = stream.write(stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 4))
                .write(without(stream.run(9, 3, 1, TailPolicy.PAD, 0, 6, 1), 7))
                .audit();

        assertThat(only(report).message())
                .contains("batch 7 is missing: the same rank acknowledged batches of this epoch after it in run 9");
    }

    @Test
    void whatAPositionAssertsIsListedApart() throws IOException {
        // Receipts up to 5; the trainer's checkpoint says 9.
        AuditReport report = stream.write(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 6))
                .write(stream.run(9, 2, 1, TailPolicy.PAD, 0, 9, 1))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.asserted()).isEqualTo(new EpochBatches(3, List.of(new BatchRange(6, 8))));
        assertThat(epoch.acknowledged()).isEqualTo(8);
        assertThat(epoch.missing() + epoch.open().count()).isZero();
    }

    @Test
    void aPositionAssertsWhatTheLedgerHasNotEvenASubscriptionOf() throws IOException {
        // The feeder died when rank 0 of run 5 was in its ledger and rank 1 was not; the trainers had both up to 5.
        AuditReport report = stream.write(
                        stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 3).subList(0, 2))
                .write(stream.run(9, 3, 1, TailPolicy.PAD, 0, 6, 1))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.asserted().ranges())
                .containsExactly(new BatchRange(1, 1), new BatchRange(3, 3), new BatchRange(5, 5));
        assertThat(epoch.acknowledged()).isEqualTo(8);
        assertThat(epoch.missing() + epoch.open().count()).isZero();
    }

    @Test
    void aPositionAssertsWhatDiedWithItsProcess() throws IOException {
        // Receipts of one trainer go through several feeders, so a crash can lose an earlier one and keep later ones.
        AuditReport report = stream.write(without(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 9), 1))
                .write(stream.run(9, 2, 1, TailPolicy.PAD, 0, 9, 1))
                .audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).asserted().ranges()).containsExactly(new BatchRange(1, 1));
    }

    @Test
    void aRankThatResumesAloneAssertsWhatIsBeforeItsPosition() throws IOException {
        // Rank 1 of run 5 died with the receipts of 5 and 7 and resumed at 9. Rank 0 lives, and the run stays.
        List<LedgerRecord> whole = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 100);
        List<LedgerRecord> died = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 2);

        AuditReport report = stream.write(whole.subList(0, 2))
                .write(died.subList(2, 4))
                .write(resumed(5, 1, 0, 9, 9))
                .write(stream.part(5, 2, 1, TailPolicy.PAD, 1, 0, 100))
                .audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).asserted().ranges())
                .containsExactly(new BatchRange(5, 5), new BatchRange(7, 7));
    }

    @Test
    void aRankThatResumesAtTheNextEpochAssertsTheEndOfTheOneBefore() throws IOException {
        List<LedgerRecord> whole = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 100);
        List<LedgerRecord> died = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 2);

        AuditReport report = stream.write(whole.subList(0, 2))
                .write(died.subList(2, 4))
                .write(resumed(5, 1, 1, 1, 1))
                .audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).asserted().count()).isEqualTo(3);
    }

    @Test
    void aRankThatReconnectsAssertsNothing() throws IOException {
        // The connection ended when 7 was complete and not consumed. Rank 1 never acknowledged it, but later ones.
        List<LedgerRecord> whole = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 100);

        AuditReport report = stream.write(whole.subList(0, 2))
                .write(without(whole.subList(2, 4), 7))
                .write(resumed(5, 1, 0, 9, Subscription.NONE))
                .write(resumed(5, 1, 0, 9, 1))
                .audit();

        assertThat(only(report).message()).contains("batch 7 is missing");
    }

    @Test
    void aRankAssertsNothingOfAnotherRank() throws IOException {
        List<LedgerRecord> whole = stream.part(5, 2, 1, TailPolicy.PAD, 0, 0, 100);

        AuditReport report = stream.write(without(whole.subList(0, 2), 4))
                .write(resumed(5, 1, 0, 9, 9))
                .audit();

        assertThat(only(report).message()).contains("batch 4 is missing");
    }

    /** What rank 1 of 2 leaves after a SUBSCRIBE that continues at a number, for a trainer that began at another. */
    private List<LedgerRecord> resumed(long run, int rank, long epoch, long first, long begin) throws IOException {
        Delivery delivery = stream.delivery(TailPolicy.PAD, Participant.rank(rank, 2), first - rank);
        Subscription s = stream.subscription(run, epoch, delivery);
        return List.of(
                new Subscription(
                        s.atMs(),
                        s.consumer(),
                        epoch,
                        s.first(),
                        s.stride(),
                        s.count(),
                        s.tail(),
                        s.source(),
                        s.view(),
                        s.skip(),
                        begin),
                stream.receipts(run, epoch, delivery, 100));
    }

    @Test
    void aRunThatResumesWhereNothingIsLeftForItAssertsWhatIsBefore() throws IOException {
        // Two ranks consumed batches 0 to 9 and died with the receipts of the last step and of batch 5.
        List<LedgerRecord> before = new ArrayList<>();
        for (LedgerRecord entry : stream.part(5, 2, 1, TailPolicy.DROP, 0, 0, 4)) {
            before.add(entry instanceof Receipts ? without(List.of(entry), 5).get(0) : entry);
        }
        AuditReport report = stream.write(before)
                .write(stream.part(6, 3, 1, TailPolicy.DROP, 0, 8, 0))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.acknowledged()).isEqualTo(7);
        assertThat(epoch.asserted().ranges()).containsExactly(new BatchRange(5, 5));
        assertThat(epoch.leftOut()).isEqualTo(3);
        assertThat(epoch.open().count()).isZero();
    }

    @Test
    void whatLiesBeforeTheFirstPositionIsAsserted() throws IOException {
        AuditReport report =
                stream.write(stream.run(9, 3, 2, TailPolicy.KEEP, 1, 4, 1)).audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).asserted().count()).isEqualTo(11);
        assertThat(report.passes().get(0).epochs().get(1).asserted().ranges()).containsExactly(new BatchRange(0, 3));
        assertThat(report.passes().get(0).epochs().get(1).acknowledged()).isEqualTo(7);
    }

    @Test
    void aTrainerThatConnectsAgainGoesOnWithItsRun() throws IOException {
        Delivery whole = stream.delivery(TailPolicy.PAD, Participant.rank(0, 1), 0);
        List<LedgerRecord> records = new ArrayList<>(epoch());
        for (long from : new long[] {3, 8}) {
            records.add(new Subscription(
                    3000,
                    stream.consumer(5, whole.participant()),
                    0,
                    from,
                    1,
                    11 - from,
                    "pad",
                    stream.source(),
                    ((Subscription) records.get(0)).view()));
        }

        clean(stream.write(records).audit());
    }

    @Test
    void startingAfreshAsksForEverythingAgain() throws IOException {
        AuditReport report = stream.write(stream.run(5, 1, 1, TailPolicy.PAD, 0, 0, 2))
                .write(stream.part(9, 1, 1, TailPolicy.PAD, 0, 0, 3))
                .audit();

        clean(report);
        AuditReport.Epoch first = report.passes().get(0).epochs().get(0);
        assertThat(first.acknowledged()).isEqualTo(3);
        assertThat(first.open().count()).isEqualTo(8);
        assertThat(first.superseded()).isGreaterThanOrEqualTo(11);
        assertThat(report.passes().get(0).epochs().get(1).acknowledged()).isEqualTo(11);
    }
}
