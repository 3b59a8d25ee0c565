package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.Finding.Kind;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.order.TailPolicy;
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
            assertThat(only(report).message()).contains("epoch 0, batch " + number + " is missing: run 5");
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
    void theLastBatchIsOpenUntilTheNextEpochIsBegun() throws IOException {
        List<LedgerRecord> records = without(epoch(), 10);
        AuditReport open = stream.write(records).audit();

        clean(open);
        assertThat(open.passes().get(0).epochs().get(0).open())
                .isEqualTo(new Batches(1, List.of(new BatchRange(10, 10))));
        assertThat(only(stream.audit(OptionalLong.of(1), 10)).kind()).isEqualTo(Kind.MISSING);

        stream.write(stream.run(5, 1, 1, TailPolicy.PAD, 1, 0, 1));

        assertThat(only(stream.audit()).message()).contains("epoch 0, batch 10 is missing");
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
