package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding.Kind;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Covers receipts and subscriptions that do not match the dataset, the order or the trainer. */
class ForgedReceiptsTest extends AuditFixture {

    @Test
    void alteredReceiptsAreNamed() throws IOException {
        List<UnaryOperator<Receipt>> forgeries = List.of(
                r -> forged(r, r.repeated(), r.rows(), r.skipped(), r.crc32c() ^ 1, r.sourceRows(), r.sourceCrc32c()),
                r -> forged(r, r.repeated(), r.rows() + 1, r.skipped(), r.crc32c(), r.sourceRows(), r.sourceCrc32c()),
                r -> forged(
                        r, r.repeated(), r.rows() - 1, r.skipped() + 1, r.crc32c(), r.sourceRows(), r.sourceCrc32c()),
                r -> forged(r, r.repeated(), r.rows(), r.skipped(), r.crc32c(), r.sourceRows() + 1, r.sourceCrc32c()),
                r -> forged(r, r.repeated(), r.rows(), r.skipped(), r.crc32c(), r.sourceRows(), r.sourceCrc32c() ^ 1),
                r -> forged(r, !r.repeated(), r.rows(), r.skipped(), r.crc32c(), r.sourceRows(), r.sourceCrc32c()));
        for (UnaryOperator<Receipt> forgery : forgeries) {
            TrainedStream one = new TrainedStream(9, 5, 7, 11, 3, 8);

            AuditReport report = one.write(changeNumber(epoch(), 4, forgery)).audit();

            assertThat(only(report).kind()).isEqualTo(Kind.ALTERED);
            assertThat(only(report).message())
                    .contains("stream train, group default, epoch 0, batch 4, piece 0: the receipt of run 5, rank 0 of"
                            + " 1");
        }
    }

    @Test
    void theChecksumOfAnotherBatchIsAltered() throws IOException {
        Receipt other = stream.receipts(0, TailPolicy.PAD, 3).get(0);

        AuditReport report = stream.write(changeNumber(
                        epoch(),
                        4,
                        r -> new Receipt(
                                4, 0, false, other.rows(), 0, other.crc32c(), other.rows(), other.sourceCrc32c())))
                .audit();

        assertThat(only(report).kind()).isEqualTo(Kind.ALTERED);
    }

    @Test
    void foreignNumbersAndPiecesAreNamed() throws IOException {
        List<LedgerRecord> rank =
                stream.part(5, 2, 1, TailPolicy.PAD, 0, 4, 100).subList(0, 2);
        Receipt good = stream.receipts(0, TailPolicy.PAD, 4).get(0);
        for (long number : new long[] {2, 3, 5, 12, 1000, Long.MAX_VALUE}) {
            TrainedStream one = new TrainedStream(9, 5, 7, 11, 3, 8);

            AuditReport report = one.write(change(rank, entries -> {
                        List<Receipt> more = new ArrayList<>(entries);
                        more.add(new Receipt(
                                number, 0, false, good.rows(), 0, good.crc32c(), good.rows(), good.sourceCrc32c()));
                        return more;
                    }))
                    .audit();

            assertThat(only(report).kind()).isEqualTo(Kind.FOREIGN);
            assertThat(only(report).message()).contains("batch " + number + ": receipt of run 5, rank 0 of 2");
        }
        stream.write(change(rank, entries -> {
            List<Receipt> more = new ArrayList<>(entries);
            more.add(new Receipt(4, 7, false, good.rows(), 0, good.crc32c(), good.rows(), good.sourceCrc32c()));
            return more;
        }));
        assertThat(only(stream.audit()).message()).contains("batch 4: receipt of piece 7, the batch has 1");
    }

    @Test
    void receiptsOfUnknownTrainersAreForeign() throws IOException {
        List<UnaryOperator<Consumer>> others = List.of(
                c -> consumer(c, c.feed(), c.stream(), c.group(), c.fingerprint(), 6, c.rank()),
                c -> consumer(c, c.feed(), c.stream(), c.group(), c.fingerprint(), c.run(), 1),
                c -> consumer(c, c.feed(), "val", c.group(), c.fingerprint(), c.run(), c.rank()),
                c -> consumer(c, c.feed(), c.stream(), "b", c.fingerprint(), c.run(), c.rank()),
                c -> consumer(c, c.feed(), c.stream(), c.group(), "0".repeat(32), c.run(), c.rank()),
                c -> consumer(
                        c, SampleDatasets.id(1).toString(), c.stream(), c.group(), c.fingerprint(), c.run(), c.rank()),
                c -> new Consumer(c.feed(), c.stream(), c.group(), c.fingerprint(), c.run(), 0, 2, 0, 1, 1));
        for (UnaryOperator<Consumer> other : others) {
            TrainedStream one = new TrainedStream(9, 5, 7, 11, 3, 8);
            List<LedgerRecord> records =
                    new ArrayList<>(one.part(5, 2, 1, TailPolicy.PAD, 0, 0, 2).subList(0, 2));
            Receipts last = (Receipts) records.get(1);
            records.add(new Receipts(
                    1,
                    other.apply(last.consumer()),
                    0,
                    last.viewTag(),
                    last.entries().subList(0, 1)));

            AuditReport report = one.write(records).audit();

            assertThat(only(report).kind()).isEqualTo(Kind.FOREIGN);
        }
    }

    private static Consumer consumer(
            Consumer c, String feed, String stream, String group, String print, long run, int rank) {
        return new Consumer(feed, stream, group, print, run, rank, c.worldSize(), c.worker(), c.workers(), c.replica());
    }

    @Test
    void receiptsOfAnEpochWithoutSubscriptionAreForeign() throws IOException {
        List<LedgerRecord> records = new ArrayList<>(epoch());
        records.add(stream.receipts(5, 1, stream.delivery(TailPolicy.PAD, Participant.rank(0, 1), 0), 3));

        assertThat(only(stream.write(records).audit()).message()).contains("receipts of epoch 1");
    }

    @Test
    void subscriptionsThatDoNotFitTheDatasetAreForeign() throws IOException {
        Source good = stream.source();
        List<Source> forged = List.of(
                new Source(SampleDatasets.id(3).toString(), 1, "train", good.order()),
                new Source(good.dataset(), 2, "train", good.order()),
                new Source(good.dataset(), 1, "val", good.order()),
                new Source(good.dataset(), 1, "train", good.order().replace("\"seed\":7", "\"seed\":8")),
                new Source(good.dataset(), 1, "train", "{}"));
        for (Source source : forged) {
            TrainedStream one = new TrainedStream(9, 5, 7, 11, 3, 8);
            Subscription sub = (Subscription) epoch().get(0);
            List<LedgerRecord> records = new ArrayList<>(epoch());
            records.add(new Subscription(
                    1, sub.consumer(), 0, sub.first(), sub.stride(), sub.count(), sub.tail(), source, sub.view()));

            assertThat(only(one.write(records).audit()).kind()).isEqualTo(Kind.FOREIGN);
        }
    }

    @Test
    void subscriptionsToNumbersOfAnotherRankAreForeign() throws IOException {
        Subscription sub = stream.subscription(5, 0, stream.delivery(TailPolicy.PAD, Participant.rank(0, 2), 0));
        for (long[] numbers : new long[][] {{1, 2, 3}, {0, 1, 3}, {0, 2, 100}, {0, 2, Long.MAX_VALUE / 2}}) {
            TrainedStream one = new TrainedStream(9, 5, 7, 11, 3, 8);
            AuditReport report = one.write(List.of(new Subscription(
                            1, sub.consumer(), 0, numbers[0], numbers[1], numbers[2], "pad", sub.source(), sub.view())))
                    .audit();

            assertThat(only(report).kind()).isEqualTo(Kind.FOREIGN);
        }
    }
}
