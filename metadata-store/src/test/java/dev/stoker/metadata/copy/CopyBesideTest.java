package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.copy.CopiedDatasets.append;
import static dev.stoker.metadata.copy.CopiedDatasets.requireClean;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.requireReadable;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.TagExistsException;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.gc.CollectionRunningException;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.NothingToExpireException;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.Interleaving;
import dev.stoker.storage.Interleaving.Outcome;
import dev.stoker.storage.Interleaving.Program;
import dev.stoker.storage.Interleaving.Schedule;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * A copy beside another operation on its source or on its target, with one or two switches between the two before drawn
 * calls. The full tier tries one switch before every call, and {@code -Dtest.exhaustive=true} all pairs of switches.
 */
class CopyBesideTest {

    /** Schedules of each case, at least. */
    private static final int SCHEDULES = 10;

    private final Interleaving interleaving = new Interleaving();
    private final List<Case> cases = new ArrayList<>();

    @AfterEach
    void close() {
        interleaving.close();
    }

    /** What must be true afterwards. */
    private interface Check {
        void accept(ObjectStore store) throws Exception;
    }

    /** Two programs, and the schedules with one and with two switches. */
    private record Case(
            InMemoryObjectStore base,
            List<Program> programs,
            List<Schedule> singles,
            List<Schedule> pairs,
            Check check) {}

    private int calls(InMemoryObjectStore base, Program program) throws InterruptedException {
        return interleaving
                .run(base.copy(), List.of(program), new Schedule(0, List.of()), Optional.empty())
                .calls()
                .get(0)
                .size();
    }

    private void add(InMemoryObjectStore base, Program one, Program other, Check check) throws Exception {
        int[] calls = {calls(base, one), calls(base, other)};
        List<Schedule> singles = new ArrayList<>();
        List<Schedule> pairs = new ArrayList<>();
        for (int first = 0; first < 2; first++) {
            for (int i = 0; i <= calls[first]; i++) {
                singles.add(new Schedule(first, List.of(i)));
                for (int j = 1; j <= calls[1 - first]; j++) {
                    pairs.add(new Schedule(first, List.of(i, j)));
                }
            }
        }
        cases.add(new Case(base, List.of(one, other), singles, pairs, check));
    }

    private void run(Rounds rounds) throws Exception {
        for (Case each : cases) {
            if (Cells.areAll() || Rounds.areExhaustive()) {
                for (Schedule schedule : each.singles()) {
                    run(each, schedule);
                }
            }
            if (Rounds.areExhaustive()) {
                for (Schedule schedule : each.pairs()) {
                    run(each, schedule);
                }
            }
        }
        if (!Rounds.areExhaustive()) {
            rounds.atLeast((long) SCHEDULES * cases.size()).run((random, round) -> {
                Case each = cases.get((int) (round % cases.size()));
                List<Schedule> some = random.nextInt(3) == 0 ? each.pairs() : each.singles();
                run(each, some.get(random.nextInt(some.size())));
            });
        }
    }

    private void run(Case each, Schedule schedule) throws Exception {
        InMemoryObjectStore store = each.base().copy();
        Outcome outcome = interleaving.run(store, each.programs(), schedule, Optional.empty());
        try {
            for (Optional<Throwable> failure : outcome.failures()) {
                if (failure.isPresent() && !mayFail(failure.get())) {
                    throw new AssertionError("failed: " + failure.get(), failure.get());
                }
            }
            each.check().accept(store);
        } catch (Exception | AssertionError e) {
            throw new AssertionError(schedule + ": " + e.getMessage(), e);
        }
    }

    private static boolean mayFail(Throwable failure) {
        return failure instanceof CollectionRunningException
                || failure instanceof NothingToExpireException
                || failure instanceof TagExistsException;
    }

    private static void collect(ObjectStore store) throws IOException {
        GarbageCollection.plan(Dataset.open(store), Duration.ZERO, CLOCK).apply();
    }

    private static InMemoryObjectStore source() throws IOException {
        InMemoryObjectStore store = CopiedDatasets.empty();
        append(store, 1);
        CopiedDatasets.replace(store, 2);
        CopiedDatasets.tag(store, "best", 1);
        append(store, 3);
        return store;
    }

    /** A target to which a copy was killed before its first entry, and whose lease a person has ended. */
    private static InMemoryObjectStore killed(InMemoryObjectStore source) throws IOException {
        InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);
        CopiedDatasets.run(source, target);
        for (String name : CopiedDatasets.names(target, "_stoker/")) {
            if (!name.startsWith("_stoker/dataset")) {
                target.delete(name);
            }
        }
        return target;
    }

    @Test
    void ofTheSourceBesideWriters(TestInfo test) throws Exception {
        InMemoryObjectStore base = source();
        for (Program writer : List.<Program>of(
                store -> append(store, 7),
                store -> CopiedDatasets.tag(store, "best", 3),
                CopyBesideTest::compact,
                store -> CopiedDatasets.expire(store, 8),
                store -> {
                    CopiedDatasets.replace(store, 7);
                    CopiedDatasets.expire(store, 8);
                    collect(store);
                })) {
            InMemoryObjectStore[] target = {null};
            Program copy = store -> {
                target[0] = new InMemoryObjectStore(CLOCK);
                CopiedDatasets.run(store, target[0]);
                requireReadable(target[0]);
                requireClean(target[0]);
            };
            add(base, copy, writer, store -> {
                CopiedDatasets.run(store, target[0]);
                requireEqual(store, target[0]);
            });
        }
        run(Rounds.of(test).seconds(2));
    }

    private static void compact(ObjectStore store) throws Exception {
        Dataset dataset = Dataset.open(store);
        CompactionPlan plan =
                CompactionPlan.of(dataset.snapshot(), new CompactionRules(1 << 20, 1 << 21, OptionalLong.empty()));
        new Compaction(dataset, "compact-1", "ada@host", CLOCK, new CompactionThreads(1, 1, 1 << 24), read -> {})
                .run(plan);
    }

    @Test
    void toTheTargetBesideAnother(TestInfo test) throws Exception {
        for (InMemoryObjectStore source : List.of(source(), CopiedDatasets.expired())) {
            Program copy = store -> CopiedDatasets.run(source.copy(), store);
            for (InMemoryObjectStore base : List.of(new InMemoryObjectStore(CLOCK), killed(source))) {
                add(base, copy, copy, store -> requireEqual(source, store));
            }
        }
        run(Rounds.of(test).seconds(2));
    }

    @Test
    void toTheTargetBesideGarbageCollection(TestInfo test) throws Exception {
        InMemoryObjectStore source = source();
        add(killed(source), store -> CopiedDatasets.run(source.copy(), store), CopyBesideTest::collect, store -> {
            requireReadable(store);
            CopiedDatasets.run(source, store);
            requireEqual(source, store);
        });
        run(Rounds.of(test).seconds(0.5));
    }
}
