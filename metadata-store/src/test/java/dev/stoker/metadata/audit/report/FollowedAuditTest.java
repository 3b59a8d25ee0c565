package dev.stoker.metadata.audit.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.audit.TrainedStream;
import dev.stoker.metadata.audit.report.Finding.Kind;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Passes whose epochs read different versions. */
class FollowedAuditTest {

    private TrainedStream first;
    private TrainedStream second;

    @BeforeEach
    void create() throws IOException {
        first = new TrainedStream(9, 5, 7, 11, 3, 8).chosenFor(0).chosenFor(1);
        second = first.append(6, 10, 9).chosenFor(2);
    }

    private static List<LedgerRecord> epoch(TrainedStream stream, long epoch) throws IOException {
        return stream.run(5, 2, 1, TailPolicy.PAD, epoch, 0, 1);
    }

    private static List<LedgerRecord> without(List<LedgerRecord> records, long from) {
        return records.stream()
                .map(entry -> entry instanceof Receipts r
                        ? new Receipts(
                                r.atMs(),
                                r.consumer(),
                                r.epoch(),
                                r.viewTag(),
                                r.entries().stream()
                                        .filter(e -> e.number() < from)
                                        .toList())
                        : entry)
                .toList();
    }

    private AuditReport audit() throws IOException {
        return first.audit(OptionalLong.of(3), 10);
    }

    private Finding only() throws IOException {
        AuditReport report = audit();
        assertThat(report.findings()).hasSize(1);
        return report.findings().get(0);
    }

    @Test
    void eachEpochIsJudgedAgainstItsOwnVersion() throws IOException {
        first.write(epoch(first, 0)).write(epoch(first, 1));
        second.write(epoch(second, 2));

        AuditReport report = audit();

        assertThat(report.findings()).isEmpty();
        assertThat(report.passes()).hasSize(1);
        assertThat(report.passes().get(0).epochs())
                .extracting(AuditReport.Epoch::version)
                .containsExactly(1L, 1L, 2L);
        assertThat(report.passes().get(0).epochs())
                .extracting(AuditReport.Epoch::batches)
                .containsExactly(first.batches(), first.batches(), second.batches());
        assertThat(report.passes().get(0).epochs())
                .allSatisfy(epoch -> assertThat(epoch.acknowledged()).isEqualTo(epoch.batches()));
    }

    @Test
    void whoWentOnToTheNextVersionHasTheEpochBehind() throws IOException {
        first.write(epoch(first, 0)).write(without(epoch(first, 1), first.batches() - 3));
        second.write(epoch(second, 2));

        assertThat(audit().findings())
                .isNotEmpty()
                .allSatisfy(finding -> assertThat(finding.kind()).isEqualTo(Kind.MISSING))
                .anySatisfy(finding -> assertThat(finding.message())
                        .contains("epoch 1", "the same rank acknowledged batches of a later epoch in run 5"));
    }

    @Test
    void anotherVersionThanTheChosenOneIsForeign() throws IOException {
        first.write(epoch(first, 0)).write(epoch(first, 1)).write(epoch(first, 2));

        List<Finding> findings = audit().findings();

        assertThat(findings)
                .filteredOn(f -> f.kind() == Kind.FOREIGN)
                .anySatisfy(finding -> assertThat(finding.message())
                        .contains("epoch 2", "it is for version 1, but the epoch has version 2"));
    }

    @Test
    void receiptsOfAnotherVersionAreForeign() throws IOException {
        first.write(epoch(first, 0)).write(epoch(first, 1));
        List<LedgerRecord> forged = new ArrayList<>();
        for (LedgerRecord entry : epoch(second, 2)) {
            forged.add(
                    entry instanceof Receipts r && r.consumer().rank() == 1
                            ? new Receipts(r.atMs(), withPrint(r.consumer()), r.epoch(), r.viewTag(), r.entries())
                            : entry);
        }
        second.write(forged);

        List<Finding> findings = audit().findings();

        assertThat(findings).anySatisfy(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.FOREIGN);
            assertThat(finding.message()).contains("epoch 2", first.fingerprint.text(), second.fingerprint.text());
        });
        assertThat(findings).anySatisfy(finding -> assertThat(finding.kind()).isEqualTo(Kind.MISSING));
    }

    private Consumer withPrint(Consumer of) {
        return new Consumer(
                of.feed(),
                of.stream(),
                of.group(),
                first.fingerprint.text(),
                of.run(),
                of.rank(),
                of.worldSize(),
                of.worker(),
                of.workers(),
                of.replica());
    }

    @Test
    void aLostOrDamagedChoiceIsSaid() throws IOException {
        first.write(epoch(first, 0)).write(epoch(first, 1));
        second.write(epoch(second, 2));
        String name = DatasetLayout.FEEDS + TrainedStream.PASS.name(1);
        byte[] right = first.store.readAll(name, 1 << 16);

        first.store.delete(name);
        assertThat(audit().findings())
                .anySatisfy(finding -> assertThat(finding.message())
                        .contains("epoch 1", "no version of the dataset was chosen for this epoch"));

        right[right.length - 4] ^= 1;
        first.store.createIfAbsent(name, right);
        assertThat(audit().findings()).anySatisfy(finding -> {
            assertThat(finding.kind()).isEqualTo(Kind.DAMAGED_DATASET);
            assertThat(finding.message()).contains(name);
        });
    }

    @Test
    void anEpochThatWasChosenAndNotReadIsOpen() throws IOException {
        first.write(epoch(first, 0)).write(epoch(first, 1));
        assertThat(only().message()).contains("epoch 2").contains("not acknowledged");
        assertThat(first.audit().findings()).isEmpty();
    }
}
