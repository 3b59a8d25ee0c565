package dev.stoker.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.ingest.BesideOperations.Line;
import dev.stoker.ingest.BesideOperations.Slot;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.Interleaving;
import dev.stoker.storage.Interleaving.Crash;
import dev.stoker.storage.Interleaving.Outcome;
import dev.stoker.storage.Interleaving.Schedule;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each operation on a dataset beside each other one, under schedules with at most two preemptions at calls to the
 * store, and each with crashes at calls. Whatever the schedule: nothing that was committed is lost, nothing else is
 * seen, every reader works, and nothing live is deleted.
 *
 * <p>A switch in front of a call changes nothing unless the other program touches the same part of the dataset and one
 * of the two changes it, so only such calls are tried. A round draws a schedule of one pair, and half of the schedules
 * have two preemptions. {@code -Dtest.exhaustive=true} tries all schedules, as {@code -Psoak} does. The full tier tries
 * a crash at every call.
 */
class EverythingBesideEverythingTest {

    private record Pair(Line one, Line other) {}

    /** Two operations on a dataset, and their schedules. */
    private record Besides(InMemoryObjectStore base, Pair pair, List<Schedule> schedules) {}

    /** A crash of one operation on a dataset. */
    private record LoneCrash(InMemoryObjectStore base, Line line, Crash crash) {}

    @TempDir
    private Path directory;

    private final Interleaving interleaving = new Interleaving();
    private List<Line> table;

    @BeforeEach
    void prepare() throws IOException {
        Trees.file(directory, "a/a/1.jpg", "one");
        Trees.file(directory, "b/b/1.jpg", "two");
        table = new BesideOperations(directory).table();
    }

    @AfterEach
    void close() {
        interleaving.close();
    }

    @Test
    void onANewDataset(TestInfo test) throws Exception {
        everyPair(Rounds.of(test).seconds(2), BesideState.nothing());
    }

    @Test
    void onADatasetWithVersions(TestInfo test) throws Exception {
        everyPair(Rounds.of(test).seconds(6), BesideState.twoVersions());
    }

    @Test
    @Tag("full-stores")
    void aCrashAtEveryCall(TestInfo test) throws Exception {
        List<List<LoneCrash>> crashes = new ArrayList<>();
        for (InMemoryObjectStore base : List.of(BesideState.nothing(), BesideState.twoVersions())) {
            for (Line line : table) {
                int calls = calls(base, line, 0).size();
                List<LoneCrash> ofLine = new ArrayList<>();
                for (int call = 0; call < calls; call++) {
                    for (boolean after : new boolean[] {false, true}) {
                        ofLine.add(new LoneCrash(base, line, new Crash(0, call, after)));
                    }
                }
                crashes.add(ofLine);
            }
        }
        if (Cells.areAll()) {
            for (LoneCrash each : crashes.stream().flatMap(List::stream).toList()) {
                crash(each.base(), each.line(), each.crash());
            }
            return;
        }
        Rounds.of(test).seconds(6).atLeast(2L * crashes.size()).run((random, round) -> {
            List<LoneCrash> ofLine = crashes.get((int) (round % crashes.size()));
            LoneCrash drawn = ofLine.get(random.nextInt(ofLine.size()));
            crash(drawn.base(), drawn.line(), drawn.crash());
        });
    }

    /** No ingest may run beside a recovery of a log that lacks an entry; everything else may. */
    @Test
    void aRecoveryOfADamagedLog(TestInfo test) throws Exception {
        Line recover = line("recover");
        List<InMemoryObjectStore> bases = List.of(BesideState.lostNewest(), BesideState.tornNewest());
        List<Besides> all = new ArrayList<>();
        for (InMemoryObjectStore base : bases) {
            for (String name : List.of("recover", "read", "follow", "verify", "gc")) {
                Pair pair = new Pair(recover, line(name));
                all.add(new Besides(base, pair, List.copyOf(schedules(base, pair, new HashMap<>()))));
            }
        }
        if (Rounds.areExhaustive()) {
            for (Besides each : all) {
                for (Schedule schedule : each.schedules()) {
                    recovered(each, schedule);
                }
            }
        } else {
            Rounds.of(test).seconds(1).atLeast(3L * all.size()).run((random, round) -> {
                Besides each = all.get((int) (round % all.size()));
                recovered(each, drawn(each.schedules(), random));
            });
        }
        for (InMemoryObjectStore base : bases) {
            int calls = calls(base, recover, 0).size();
            for (int call = 0; call < calls; call++) {
                for (boolean after : new boolean[] {false, true}) {
                    Crash crash = new Crash(0, call, after);
                    Schedule alone = new Schedule(0, List.of());
                    recovered(base.copy(), "recover, " + crash, List.of(recover), alone, Optional.of(crash));
                }
            }
        }
    }

    private void recovered(Besides each, Schedule schedule) throws Exception {
        Pair pair = each.pair();
        String what = "recover beside " + pair.other().name() + ", " + schedule;
        recovered(each.base().copy(), what, List.of(pair.one(), pair.other()), schedule, Optional.empty());
    }

    private Line line(String name) {
        return table.stream()
                .filter(line -> line.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Whatever happened, another recovery brings everything back. */
    private void recovered(
            InMemoryObjectStore store, String what, List<Line> lines, Schedule schedule, Optional<Crash> crash)
            throws Exception {
        List<Interleaving.Program> programs = new ArrayList<>();
        for (Line line : lines) {
            programs.add(BesideOperations.program(line, Slot.BOTH.get(programs.size())));
        }
        Outcome outcome = interleaving.run(store, programs, schedule, crash);
        try {
            for (int p = 0; p < lines.size() && crash.isEmpty(); p++) {
                Optional<Throwable> failure = outcome.failures().get(p);
                if (failure.isPresent()
                        && !(failure.get() instanceof CorruptDataException)
                        && !lines.get(p).mayEndWith(failure.get())) {
                    throw new AssertionError(lines.get(p).name() + " failed: " + failure.get(), failure.get());
                }
            }
            Recovery.plan(store, "eve").apply();
            assertThat(BesideState.check(store)).containsOnlyKeys("base-1", "base-2");
            requireTidy(store);
            requireUsable(store);
        } catch (Exception | AssertionError e) {
            outcome.failures().forEach(failure -> failure.ifPresent(e::addSuppressed));
            throw new AssertionError(what + ": " + e.getMessage(), e);
        }
    }

    /** Each pair at least once, or every schedule of each pair. */
    private void everyPair(Rounds rounds, InMemoryObjectStore base) throws Exception {
        List<Pair> pairs = new ArrayList<>();
        for (int a = 0; a < table.size(); a++) {
            for (int b = a; b < table.size(); b++) {
                pairs.add(new Pair(table.get(a), table.get(b)));
            }
        }
        Map<String, List<Interleaving.Call>> known = new HashMap<>();
        if (Rounds.areExhaustive()) {
            for (Pair pair : pairs) {
                for (Schedule schedule : schedules(base, pair, known)) {
                    run(base, pair.one(), pair.other(), schedule);
                }
            }
            return;
        }
        rounds.atLeast(pairs.size()).run((random, round) -> {
            Pair pair = pairs.get((int) (round % pairs.size()));
            Schedule schedule = drawn(List.copyOf(schedules(base, pair, known)), random);
            run(base, pair.one(), pair.other(), schedule);
        });
    }

    private Set<Schedule> schedules(InMemoryObjectStore base, Pair pair, Map<String, List<Interleaving.Call>> known)
            throws InterruptedException {
        List<Interleaving.Call> ones = calls(base, pair.one(), 0, known);
        List<Interleaving.Call> others = calls(base, pair.other(), 1, known);
        return schedules(switches(ones, others), switches(others, ones));
    }

    /** All schedules with one or two preemptions, at these calls of each program. */
    private static Set<Schedule> schedules(List<Integer> ones, List<Integer> others) {
        Set<Schedule> all = new LinkedHashSet<>();
        for (int first = 0; first < 2; first++) {
            for (int i : first == 0 ? ones : others) {
                all.add(new Schedule(first, List.of(i)));
                for (int j : first == 0 ? others : ones) {
                    if (j > 0) {
                        all.add(new Schedule(first, List.of(i, j)));
                    }
                }
            }
        }
        return all;
    }

    /** One of them, half of the time with a single preemption. */
    private static Schedule drawn(List<Schedule> all, Random random) {
        int preemptions = 1 + random.nextInt(2);
        List<Schedule> wanted = all.stream()
                .filter(schedule -> schedule.calls().size() == preemptions)
                .toList();
        List<Schedule> some = wanted.isEmpty() ? all : wanted;
        return some.get(random.nextInt(some.size()));
    }

    private List<Interleaving.Call> calls(
            InMemoryObjectStore base, Line line, int slot, Map<String, List<Interleaving.Call>> known)
            throws InterruptedException {
        String key = line.name() + " " + slot;
        if (!known.containsKey(key)) {
            known.put(key, calls(base, line, slot));
        }
        return known.get(key);
    }

    /** The calls that a line makes alone. */
    private List<Interleaving.Call> calls(InMemoryObjectStore base, Line line, int slot) throws InterruptedException {
        Interleaving.Program program = BesideOperations.program(line, Slot.BOTH.get(slot));
        return interleaving
                .run(base.copy(), List.of(program), new Schedule(0, List.of()), Optional.empty())
                .calls()
                .get(0);
    }

    /** Before which calls a switch may matter; 0 is the beginning, and the end counts. */
    private static List<Integer> switches(List<Interleaving.Call> calls, List<Interleaving.Call> others) {
        return IntStream.rangeClosed(0, calls.size())
                .filter(i -> i == 0 || i == calls.size() || conflicts(calls.get(i), others))
                .boxed()
                .toList();
    }

    private static boolean conflicts(Interleaving.Call call, List<Interleaving.Call> others) {
        return others.stream()
                .anyMatch(other ->
                        (other.changes() || call.changes()) && other.zone().equals(call.zone()));
    }

    private void run(InMemoryObjectStore base, Line one, Line other, Schedule schedule) throws Exception {
        InMemoryObjectStore store = base.copy();
        String what = one.name() + " beside " + other.name() + ", " + schedule;
        Outcome outcome = interleaving.run(
                store,
                List.of(
                        BesideOperations.program(one, Slot.BOTH.get(0)),
                        BesideOperations.program(other, Slot.BOTH.get(1))),
                schedule,
                Optional.empty());
        try {
            Map<String, LogEntry> committed = BesideState.check(store);
            BesideState.requireErased(store);
            for (int p = 0; p < 2; p++) {
                Line own = p == 0 ? one : other;
                Optional<Throwable> failure = outcome.failures().get(p);
                if (isErasedMeanwhile(own, p == 0 ? other : one, failure)) {
                    continue;
                }
                requireRight(own, Slot.BOTH.get(p), failure, committed);
            }
            requireTidy(store);
            requireUsable(store);
        } catch (Exception | AssertionError e) {
            outcome.failures().forEach(failure -> failure.ifPresent(e::addSuppressed));
            throw new AssertionError(what + ": " + e.getMessage(), e);
        }
    }

    /** An erasure expires versions and deletes their files at once, so an operation on one of them may fail. */
    private static boolean isErasedMeanwhile(Line line, Line other, Optional<Throwable> failure) {
        return other.name().equals("erase")
                && failure.isPresent()
                && (Stream.iterate(failure.get(), Objects::nonNull, Throwable::getCause)
                                .anyMatch(
                                        t -> t instanceof NoSuchObjectException || t instanceof ExpiredVersionException)
                        || (line.name().equals("verify") && failure.get() instanceof CorruptDataException));
    }

    private static void requireRight(
            Line line, Slot slot, Optional<Throwable> failure, Map<String, LogEntry> committed) {
        LogEntry entry = line.name().equals("topic") && committed.containsKey(slot.ingest() + "-1")
                ? committed.get(slot.ingest() + "-1")
                : committed.get(slot.ingest());
        if (failure.isPresent()) {
            if (!line.mayEndWith(failure.get())) {
                throw new AssertionError(line.name() + " failed: " + failure.get(), failure.get());
            }
            // A failed operation has no version. If it makes several, the first can exist.
            assertThat(entry == null
                            || entry.operation() == Operation.ABANDON
                            || line.name().equals("append twice")
                            || line.name().equals("erase"))
                    .as(line.name() + " failed, and has committed")
                    .isTrue();
        } else if (Set.of("ingest", "append", "replace", "append replacing", "append twice", "parts", "topic", "remove")
                .contains(line.name())) {
            assertThat(entry).as(line.name() + " reported a version").isNotNull();
            assertThat(entry.operation()).as(line.name()).isNotEqualTo(Operation.ABANDON);
        }
    }

    /** A collection deletes nothing that is live. */
    private static void requireTidy(InMemoryObjectStore store) throws IOException {
        Optional<Dataset> dataset = Dataset.find(store);
        if (dataset.isEmpty()) {
            return;
        }
        GarbageCollection.plan(dataset.get(), Duration.ZERO, SampleDatasets.CLOCK)
                .apply();
        BesideState.check(store);
    }

    private static void requireUsable(InMemoryObjectStore store) throws IOException {
        Optional<Dataset> dataset = Dataset.find(store);
        if (dataset.isPresent()) {
            ChunkSummary chunk =
                    BesideState.chunk(store, dataset.get().info(), 30, "last", BesideState.KEYS.get("last"));
            SampleDatasets.committer(dataset.get()).commit(BesideState.append("last", chunk));
            BesideState.check(store);
        }
    }

    private void crash(InMemoryObjectStore base, Line line, Crash crash) throws Exception {
        InMemoryObjectStore store = base.copy();
        Interleaving.Program program = BesideOperations.program(line, Slot.BOTH.get(0));
        Outcome outcome = interleaving.run(store, List.of(program), new Schedule(0, List.of()), Optional.of(crash));
        try {
            BesideState.check(store);
            Optional<Dataset> dataset = Dataset.find(store);
            if (dataset.isPresent()) {
                GarbageCollection.plan(dataset.get(), Duration.ZERO, SampleDatasets.CLOCK)
                        .apply();
                BesideState.check(store);
            }
            // The same again, under its id.
            Outcome again =
                    interleaving.run(store, List.of(retried(line)), new Schedule(0, List.of()), Optional.empty());
            requireRight(line, Slot.BOTH.get(0), again.failures().get(0), BesideState.check(store));
            requireUsable(store);
        } catch (Exception | AssertionError e) {
            outcome.failures().forEach(failure -> failure.ifPresent(e::addSuppressed));
            throw new AssertionError(line.name() + ", " + crash + ": " + e.getMessage(), e);
        }
    }

    /** Its chunks have other names, as random ids have. */
    private static Interleaving.Program retried(Line line) {
        return BesideOperations.program(line, new Slot(BesideState.A, BesideState.B, 40));
    }
}
