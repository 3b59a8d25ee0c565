package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.testing.Cells;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A copy fails or dies at a call that it makes to one of the two stores. Another copy completes it. The full tier tries
 * every call, others a quarter.
 */
class CopyCrashTest {

    private InMemoryObjectStore source = new InMemoryObjectStore(CLOCK);
    private InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);
    private int windows;

    private void whole() throws IOException {
        source = CopiedDatasets.empty();
        target = new InMemoryObjectStore(CLOCK);
        CopiedDatasets.append(source, 1);
        CopiedDatasets.append(source, 2);
        CopiedDatasets.tag(source, "best", 1);
    }

    private void withExpiredVersions() throws IOException {
        target = new InMemoryObjectStore(CLOCK);
        source = CopiedDatasets.expired();
    }

    private void incremental() throws IOException {
        target = new InMemoryObjectStore(CLOCK);
        source = CopiedDatasets.expiredAfter(target);
    }

    private interface Scenario {
        void prepare() throws IOException;
    }

    /** Whatever is visible at the target is complete, at any moment. */
    private void requirePromises() {
        try {
            CopiedDatasets.requireNewestReadable(target);
        } catch (CorruptDataException e) {
            // Between the chunk table of an entry that expires others, and the entry.
            assertThat(e).hasMessageContaining("lacks " + DatasetLayout.LOG);
            windows++;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static void attempt(ObjectStore from, ObjectStore to) {
        try {
            run(from, to);
        } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
            // The test injects these faults.
        }
    }

    private static void endLeases(ObjectStore store) throws IOException {
        Optional<Dataset> dataset = Dataset.find(store);
        if (dataset.isPresent()) {
            for (String lease : new ProcessLeases(dataset.get(), ProcessLeases.Kind.COPY)
                    .all()
                    .keySet()) {
                GarbageCollection.endProcess(dataset.get(), lease);
            }
        }
    }

    /** Returns how many calls a copy makes. */
    private int calls(Scenario scenario, boolean isTarget) throws Exception {
        scenario.prepare();
        FaultyObjectStore counting = new FaultyObjectStore(isTarget ? target : source);
        run(isTarget ? source : counting, isTarget ? counting : target);
        return counting.calls().size();
    }

    private int someCalls(Scenario scenario, Fault fault, boolean isTarget) throws Exception {
        int calls = calls(scenario, isTarget);
        String matrix =
                "CopyCrashTest " + fault + (isTarget ? " at the target, " : " at the source, ") + calls + " calls";
        for (int at : Cells.drawn(matrix, IntStream.range(0, calls).boxed()).toList()) {
            scenario.prepare();
            FaultyObjectStore faulty =
                    new FaultyObjectStore(isTarget ? target : source).on(call -> call.number() == at, fault);
            attempt(isTarget ? source : faulty, isTarget ? faulty : target);
            try {
                assertThat(faulty.calls()).as("calls").hasSizeGreaterThan(at);
                requirePromises();
                endLeases(source);
                endLeases(target);
                run(source, target);
                requireEqual(source, target);
            } catch (Exception | AssertionError e) {
                throw new AssertionError(
                        fault + " at call " + at + (isTarget ? " to the target: " : " to the source: ")
                                + e.getMessage(),
                        e);
            }
        }
        return calls;
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"FAIL_BEFORE", "UNKNOWN_WITHOUT_EFFECT", "UNKNOWN_AFTER_EFFECT", "CRASH_BEFORE", "CRASH_AFTER"})
    void theTargetIsIntactAndAnotherCopyCompletesIt(Fault fault) throws Exception {
        for (Scenario scenario : new Scenario[] {this::whole, this::withExpiredVersions, this::incremental}) {
            assertThat(someCalls(scenario, fault, true)).isBetween(20, 200);
            assertThat(someCalls(scenario, fault, false)).isBetween(10, 200);
        }
        assertThat(windows).as("one call in each of two scenarios").isLessThanOrEqualTo(4);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"FLIPPED_BIT", "TRUNCATED"})
    void aReadThatReturnsOtherBytesDamagesNothing(Fault fault) throws Exception {
        someCalls(this::whole, fault, false);
        someCalls(this::withExpiredVersions, fault, false);
    }
}
