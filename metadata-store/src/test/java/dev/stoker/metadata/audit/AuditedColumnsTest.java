package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding.Kind;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Covers trainers that read only some columns. */
class AuditedColumnsTest extends AuditFixture {

    @Test
    void receiptsOfSelectedColumnsAreRecomputed() throws IOException {
        stream.select("label");
        clean(stream.write(epoch()).audit());
    }

    @Test
    void aRunMayReadOtherColumnsThanTheRunBefore() throws IOException {
        stream.write(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 4));
        stream.select("image");
        stream.write(stream.part(6, 1, 1, TailPolicy.PAD, 0, 4, 3));
        stream.select("key", "label");
        AuditReport report =
                stream.write(stream.run(7, 1, 1, TailPolicy.PAD, 0, 7, 1)).audit();

        clean(report);
        assertThat(report.passes().get(0).epochs().get(0).missing()).isZero();
    }

    @Test
    void aTrainerMayChangeItsColumnsWithinARun() throws IOException {
        List<LedgerRecord> whole = epoch();
        stream.select("label");
        clean(stream.write(whole).write(epoch()).audit());
    }

    @Test
    void receiptsOfOtherColumnsThanTheirViewSaysAreAltered() throws IOException {
        List<LedgerRecord> whole = epoch();
        stream.select("label");
        long tag = ((Receipts) epoch().get(1)).viewTag();
        List<LedgerRecord> forged = whole.stream()
                .map(entry -> entry instanceof Receipts r
                        ? new Receipts(
                                r.atMs(),
                                r.consumer(),
                                r.epoch(),
                                tag,
                                r.entries().subList(0, 1))
                        : entry)
                .toList();

        AuditReport report = stream.write(epoch()).write(forged).audit();

        assertThat(only(report).kind()).isEqualTo(Kind.ALTERED);
    }

    @Test
    void receiptsOfAViewWithoutSubscriptionAreForeign() throws IOException {
        List<LedgerRecord> records = new ArrayList<>();
        for (LedgerRecord entry : epoch()) {
            records.add(
                    entry instanceof Receipts r
                            ? new Receipts(
                                    r.atMs(),
                                    r.consumer(),
                                    r.epoch(),
                                    7,
                                    r.entries().subList(0, 1))
                            : entry);
        }
        AuditReport report = stream.write(records).audit();

        assertThat(only(report).kind()).isEqualTo(Kind.FOREIGN);
        assertThat(only(report).message()).contains("for view 0000000000000007, which no subscription names");
    }

    @Test
    void subscriptionsToColumnsThatTheDatasetLacksAreForeign() throws IOException {
        Subscription s = (Subscription) epoch().get(0);
        String view = "{\"columns\":[\"mask\"],\"transform\":null,\"transform_version\":null}";
        List<LedgerRecord> records = new ArrayList<>(epoch());
        records.add(new Subscription(1, s.consumer(), 0, s.first(), s.stride(), s.count(), s.tail(), s.source(), view));

        AuditReport report = stream.write(records).audit();

        assertThat(only(report).kind()).isEqualTo(Kind.FOREIGN);
        assertThat(only(report).message()).contains("columns names 'mask', which the dataset does not have");
    }
}
