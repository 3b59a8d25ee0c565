package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.metadata.ledger.DeliverySign;
import dev.stoker.metadata.ledger.LedgerMerge;
import dev.stoker.metadata.ledger.LedgerName;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.SimulatedCrash;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.Interleaving;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A ledger says the same before, while and after its files are merged. */
class MergedLedgerTest extends AuditFixture {

    private static final Instant NOON = Instant.parse("2026-11-20T12:00:00Z");
    private static final int EPOCHS = 12;

    private final Random random = new Random(5);
    private final List<String> names = new ArrayList<>();
    private AuditReport before;
    private int merges;

    /** Twelve files, one each 20 minutes, from 12:05 on. */
    @BeforeEach
    void write() throws IOException {
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            write(NOON.plus(Duration.ofMinutes(5 + 20L * epoch)), records(epoch));
        }
        before = audit(stream.ledger);
        clean(before);
    }

    private List<LedgerRecord> records(int epoch) throws IOException {
        return stream.run(5, 1, 1, TailPolicy.PAD, epoch, 0, 1);
    }

    private void write(Instant at, List<LedgerRecord> records) throws IOException {
        UUID id = ChunkNames.newId(at.toEpochMilli(), random);
        names.add(LedgerName.ofPart(id));
        stream.ledger.createIfAbsent(LedgerName.ofPart(id), TrainedStream.file(records));
    }

    private AuditReport audit(ObjectStore ledger) throws IOException {
        List<DeliverySign> signs = new ArrayList<>();
        for (String name : names) {
            signs.add(new DeliverySign("the sign", TrainedStream.FEED, signs.size(), name));
        }
        return new Audit(
                        ledger,
                        List.of(stream.dataset),
                        Optional.of(TrainedStream.FEED),
                        RequiredEpochs.NONE,
                        signs,
                        text -> {})
                .run();
    }

    private int merge(ObjectStore ledger, Instant now) throws IOException {
        return new LedgerMerge(new Random(merges++)).run(ledger, now, e -> {
            throw new AssertionError(e);
        });
    }

    private void saysTheSame(ObjectStore ledger) throws IOException {
        AuditReport after = audit(ledger);
        clean(after);
        assertThat(after.passes()).isEqualTo(before.passes());
        assertThat(after.records()).isEqualTo(before.records());
        assertThat(after.receipts()).isEqualTo(before.receipts());
        assertThat(after.duplicates()).isEqualTo(before.duplicates());
    }

    @Test
    void filesOfAnHourAndOfADayBecomeOne() throws IOException {
        assertThat(merge(stream.ledger, NOON.plus(Duration.ofMinutes(65)))).isZero();
        assertThat(merge(stream.ledger, NOON.plus(Duration.ofMinutes(75)))).isEqualTo(3);
        assertThat(audit(stream.ledger).files()).isEqualTo(10);
        saysTheSame(stream.ledger);

        assertThat(merge(stream.ledger, NOON.plus(Duration.ofHours(11)))).isEqualTo(9);
        assertThat(audit(stream.ledger).files()).isEqualTo(4);
        assertThat(merge(stream.ledger, NOON.plus(Duration.ofHours(11)))).isZero();

        assertThat(merge(stream.ledger, NOON.plus(Duration.ofHours(14)))).isEqualTo(4);
        assertThat(audit(stream.ledger).files()).isEqualTo(1);
        saysTheSame(stream.ledger);
        assertThat(merge(stream.ledger, NOON.plus(Duration.ofDays(9)))).isZero();
    }

    @Test
    void lateFilesJoinTheirDay() throws IOException {
        merge(stream.ledger, NOON.plus(Duration.ofHours(14)));
        String again = names.get(3);
        stream.ledger.createIfAbsent(again, TrainedStream.file(records(3)));
        write(NOON.plus(Duration.ofMinutes(7)), stream.run(5, 1, 1, TailPolicy.PAD, EPOCHS, 0, 1));
        before = audit(stream.ledger);
        clean(before);

        assertThat(merge(stream.ledger, NOON.plus(Duration.ofDays(2)))).isEqualTo(3);
        assertThat(audit(stream.ledger).files()).isEqualTo(1);
        saysTheSame(stream.ledger);
    }

    @Test
    void aDamagedFileStays() throws IOException {
        byte[] bytes = stream.ledger.readAll(names.get(1), 1 << 20);
        bytes[bytes.length / 2] ^= 4;
        stream.ledger.corrupt(names.get(1), bytes);
        List<String> damaged = new ArrayList<>();
        LedgerMerge merge = new LedgerMerge(random);
        Instant later = NOON.plus(Duration.ofDays(2));

        assertThat(merge.run(stream.ledger, later, e -> damaged.add(e.getMessage())))
                .isEqualTo(EPOCHS - 1);
        assertThat(merge.run(stream.ledger, later, e -> damaged.add(e.getMessage())))
                .isZero();
        assertThat(damaged).singleElement().asString().contains(names.get(1));
        assertThat(stream.ledger.readAll(names.get(1), 1 << 20)).isEqualTo(bytes);
        assertThat(audit(stream.ledger).findings()).extracting(Finding::kind).contains(Finding.Kind.DAMAGED_LEDGER);
    }

    @Test
    void aSignedFileThatIsNoPartIsMissed() throws IOException {
        stream.ledger.delete(names.get(EPOCHS - 1));
        merge(stream.ledger, NOON.plus(Duration.ofDays(2)));
        assertThat(audit(stream.ledger).findings())
                .extracting(Finding::message)
                .anyMatch(message -> message.contains(names.get(EPOCHS - 1)));
    }

    @Test
    void aCrashAtAnyCallLosesNothing() throws IOException {
        Instant later = NOON.plus(Duration.ofDays(2));
        for (Fault fault : List.of(Fault.CRASH_BEFORE, Fault.CRASH_AFTER)) {
            boolean crashed = true;
            for (int call = 0; crashed; call++) {
                InMemoryObjectStore ledger = stream.ledger.copy();
                FaultyObjectStore faulty = new FaultyObjectStore(ledger);
                int number = call;
                faulty.on(c -> c.number() == number, fault);
                crashed = false;
                try {
                    merge(faulty, later);
                } catch (SimulatedCrash e) {
                    crashed = true;
                }
                saysTheSame(ledger);
                merge(ledger, later);
                saysTheSame(ledger);
                assertThat(LedgerName.list(ledger)).hasSize(1);
            }
        }
    }

    @Test
    void twoProcessesMayMergeAtOnce() throws Exception {
        Interleaving.Program hours = own -> merge(own, NOON.plus(Duration.ofHours(11)));
        Interleaving.Program day = own -> merge(own, NOON.plus(Duration.ofDays(2)));
        try (Interleaving both = new Interleaving()) {
            for (int first = 0; first < 80; first += 3) {
                for (int second = 1; second < 80; second += 7) {
                    InMemoryObjectStore ledger = stream.ledger.copy();
                    Interleaving.Schedule schedule = new Interleaving.Schedule(first % 2, List.of(first, second, 9));
                    Interleaving.Outcome outcome = both.run(ledger, List.of(hours, day), schedule, Optional.empty());
                    assertThat(outcome.failures()).containsOnly(Optional.empty());
                    saysTheSame(ledger);
                }
            }
        }
    }

    @Test
    void anAuditSeesTheSameWhileFilesAreMerged() throws IOException {
        for (int call = 0; call < 40; call++) {
            InMemoryObjectStore ledger = stream.ledger.copy();
            FaultyObjectStore watched = new FaultyObjectStore(ledger);
            int number = call;
            watched.on(
                    c -> {
                        try {
                            if (c.number() == number) {
                                merge(ledger, NOON.plus(Duration.ofHours(11)));
                            } else if (c.number() == number + 9) {
                                merge(ledger, NOON.plus(Duration.ofDays(2)));
                            }
                        } catch (IOException e) {
                            throw new AssertionError(e);
                        }
                        return false;
                    },
                    Fault.REPEATED);
            saysTheSame(watched);
        }
    }
}
