package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Covers the epochs that must be complete, with a group that trains three epochs and one that evaluates in one. */
class RequiredEpochsTest extends AuditFixture {

    @BeforeEach
    void train() throws IOException {
        stream.write(stream.run(5, 1, 1, TailPolicy.PAD, 0, 0, 3));
        stream.write(ofGroup("evaluation", stream.run(6, 1, 1, TailPolicy.PAD, 0, 0, 1)));
    }

    private static List<LedgerRecord> ofGroup(String group, List<LedgerRecord> records) {
        return records.stream().map(entry -> ofGroup(group, entry)).toList();
    }

    private static LedgerRecord ofGroup(String group, LedgerRecord entry) {
        Consumer c = entry.consumer();
        Consumer other = new Consumer(
                c.feed(),
                c.stream(),
                group,
                c.fingerprint(),
                c.run(),
                c.rank(),
                c.worldSize(),
                c.worker(),
                c.workers(),
                c.replica());
        if (entry instanceof Receipts r) {
            return new Receipts(r.atMs(), other, r.epoch(), r.viewTag(), r.entries());
        }
        Subscription s = (Subscription) entry;
        return new Subscription(
                s.atMs(),
                other,
                s.epoch(),
                s.first(),
                s.stride(),
                s.count(),
                s.tail(),
                s.source(),
                s.view(),
                s.skip(),
                s.begin());
    }

    private static RequiredEpochs required(OptionalLong byDefault, Map<String, Long> byGroup) {
        return new RequiredEpochs(byDefault, byGroup);
    }

    @Test
    void oneNumberIsForEachGroup() throws IOException {
        assertThat(stream.audit(RequiredEpochs.ofAll(3)).findings())
                .extracting(Finding::message)
                .hasSize(2)
                .allMatch(message -> message.startsWith("stream train, group evaluation, epoch "));
        assertThat(stream.audit(RequiredEpochs.ofAll(1)).findings()).isEmpty();
    }

    @Test
    void eachGroupHasItsOwnNumber() throws IOException {
        for (String name : List.of("evaluation", "train/evaluation")) {
            clean(stream.audit(required(OptionalLong.of(3), Map.of(name, 1L))));
            clean(stream.audit(required(OptionalLong.of(3), Map.of(name, 0L))));
            clean(stream.audit(required(OptionalLong.empty(), Map.of(name, 1L))));
            Finding missing = only(stream.audit(required(OptionalLong.of(3), Map.of(name, 2L))));
            assertThat(missing.message()).contains("group evaluation, epoch 1: 11 batches not acknowledged (0 to 10)");
            assertThat(missing.kind()).isEqualTo(Finding.Kind.MISSING);
        }
        clean(stream.audit(required(OptionalLong.of(3), Map.of("evaluation", 9L, "train/evaluation", 1L))));
    }

    @Test
    void aGroupThatNeverSubscribedIsMissing() throws IOException {
        Finding missing = only(stream.audit(required(OptionalLong.of(1), Map.of("evaluatoin", 1L))));
        assertThat(missing.message())
                .isEqualTo("the ledger has no subscription of group evaluatoin; it has train/default,"
                        + " train/evaluation");
        assertThat(only(stream.audit(required(OptionalLong.empty(), Map.of("val/default", 1L))))
                        .message())
                .contains("no subscription of group val/default");
    }

    @Test
    void anEmptyLedgerHasNoGroup() throws IOException {
        TrainedStream empty = new TrainedStream(9, 5);
        assertThat(only(empty.audit(RequiredEpochs.ofAll(1))).message()).isEqualTo("the ledger has no subscription");
        assertThat(only(empty.audit(required(OptionalLong.empty(), Map.of("a", 1L))))
                        .message())
                .isEqualTo("the ledger has no subscription of group a");
    }
}
