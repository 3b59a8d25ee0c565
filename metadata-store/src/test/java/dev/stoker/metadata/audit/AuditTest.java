package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.audit.Finding.Kind;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.DeliveredBatch;
import dev.stoker.schemas.order.Delivery;
import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.Participant;
import dev.stoker.schemas.order.TailPolicy;
import dev.stoker.schemas.order.Window;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuditTest {

    private TrainedStream stream;

    @BeforeEach
    void create() throws IOException {
        // 43 samples, 11 batches, the last ones joint and the very last short.
        stream = new TrainedStream(9, 5, 7, 11, 3, 8);
    }

    private static List<LedgerRecord> change(List<LedgerRecord> records, UnaryOperator<List<Receipt>> change) {
        return records.stream()
                .map(entry -> entry instanceof Receipts r
                        ? new Receipts(r.atMs(), r.consumer(), r.epoch(), r.viewTag(), change.apply(r.entries()))
                        : entry)
                .toList();
    }

    private static List<LedgerRecord> changeNumber(
            List<LedgerRecord> records, long number, UnaryOperator<Receipt> change) {
        return change(
                records,
                entries -> entries.stream()
                        .map(r -> r.number() == number ? change.apply(r) : r)
                        .toList());
    }

    private static List<LedgerRecord> without(List<LedgerRecord> records, long number) {
        return change(
                records,
                entries -> entries.stream().filter(r -> r.number() != number).toList());
    }

    private List<LedgerRecord> epoch() throws IOException {
        return stream.run(5, 1, 1, TailPolicy.PAD, 0, 0, 1);
    }

    private static Finding only(AuditReport report) {
        assertThat(report.findings()).hasSize(1);
        return report.findings().get(0);
    }

    private static void clean(AuditReport report) {
        assertThat(report.findings()).isEmpty();
        assertThat(report.isClean()).isTrue();
    }

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

    private static Receipt forged(
            Receipt r, boolean repeated, int rows, int skipped, int crc, int sourceRows, int sourceCrc) {
        return new Receipt(r.number(), r.piece(), repeated, rows, skipped, crc, sourceRows, sourceCrc);
    }

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

    private static Consumer consumer(
            Consumer c, String feed, String stream, String group, String print, long run, int rank) {
        return new Consumer(feed, stream, group, print, run, rank, c.worldSize(), c.worker(), c.workers(), c.replica());
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

        assertThat(only(report).message()).contains("batch 7 is missing: run 9");
    }

    @Test
    void whatAPositionAssertsIsListedApart() throws IOException {
        // Receipts up to 5; the trainer's checkpoint says 9.
        AuditReport report = stream.write(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 6))
                .write(stream.run(9, 2, 1, TailPolicy.PAD, 0, 9, 1))
                .audit();

        clean(report);
        AuditReport.Epoch epoch = report.passes().get(0).epochs().get(0);
        assertThat(epoch.asserted()).isEqualTo(new Batches(3, List.of(new BatchRange(6, 8))));
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
    void aHoleIsNoAssertion() throws IOException {
        // Receipts of later batches of the same lane are there: no crash leaves that.
        AuditReport report = stream.write(without(stream.part(5, 1, 1, TailPolicy.PAD, 0, 0, 9), 1))
                .write(stream.run(9, 2, 1, TailPolicy.PAD, 0, 9, 1))
                .audit();

        assertThat(only(report).message()).contains("batch 1 is missing: run 5");
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
        AuditReport report = stream.audit();
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

    private void flip(int chunk, int at) throws IOException {
        String name = ChunkNames.path(SampleDatasets.id(chunk));
        byte[] bytes = stream.store.readAll(name, 1 << 20);
        bytes[at] ^= 4;
        stream.store.corrupt(name, bytes);
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

    private int payloadPosition(byte[] file, int chunk, int row) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        bytes.limit(stream.order.chunks().headLength(chunk));
        return ChunkHead.parse(bytes, file.length, "chunk").payloadPosition(1, row);
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
