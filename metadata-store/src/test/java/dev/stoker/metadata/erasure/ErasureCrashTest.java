package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.erasure.ErasableDataset.ANN;
import static dev.stoker.metadata.erasure.ErasableDataset.BOB;
import static dev.stoker.metadata.erasure.ErasableDataset.check;
import static dev.stoker.metadata.erasure.ErasableDataset.containing;
import static dev.stoker.metadata.erasure.ErasableDataset.samples;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An erasure fails or dies at every call that it makes to the store, and the same command finishes it. */
class ErasureCrashTest {

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"CRASH_BEFORE", "CRASH_AFTER", "FAIL_BEFORE", "UNKNOWN_AFTER_EFFECT"})
    void theSameCommandFinishesIt(Fault fault) throws Exception {
        InMemoryObjectStore base = ErasableDataset.create();
        Map<String, String> others = samples(base);
        others.remove("train:" + ANN);
        boolean isReached = true;
        int step = 0;
        for (; isReached; step++) {
            InMemoryObjectStore store = base.copy();
            int at = step;
            List<FaultyObjectStore.Call> steps = new ArrayList<>();
            FaultyObjectStore faulty = new FaultyObjectStore(store)
                    .on(call -> isStep(fault, call) && steps.add(call) && steps.size() == at + 1, fault);
            try {
                ErasableDataset.erase(faulty, ANN, BOB);
            } catch (IOException | FaultyObjectStore.SimulatedCrash e) {
                // The test injects these faults.
            }
            isReached = steps.size() > step;
            String where = fault + " at step " + step + ": " + (isReached ? steps.get(step) : "none");

            // Whatever happened, no reader sees an erased sample beside its chunk, or misses another one.
            Map<String, String> between = samples(store);
            between.remove("train:" + ANN);
            assertThat(between).as(where).isEqualTo(others);

            Erasure certificate = finished(store, where);
            assertThat(containing(store, Set.of("ann", "bob"))).as(where).isEmpty();
            assertThat(samples(store)).as(where).isEqualTo(others);
            assertThat(certificate.result().orElseThrow().removed())
                    .as(where)
                    .extracting(ErasedChunk::id)
                    .contains(SampleDatasets.id(1), SampleDatasets.id(3), SampleDatasets.id(4));
            assertThat(check(store, certificate).findings()).as(where).isEmpty();
            Dataset dataset = Dataset.open(store);
            assertThat(new ErasureFiles(dataset).unfinished()).as(where).isEmpty();
            assertThat(new Leases(dataset).all()).as(where).isEmpty();
            assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                            .run(dataset.snapshot())
                            .problems())
                    .as(where)
                    .isEmpty();
        }
        assertThat(step).isGreaterThan(fault == Fault.FAIL_BEFORE ? 60 : 25);
    }

    /** A crash at a call that changes nothing has the effect of a crash at an earlier or later one. */
    private static boolean isStep(Fault fault, FaultyObjectStore.Call call) {
        return switch (call.operation()) {
            case CREATE, REPLACE, DELETE, OPEN_WRITER, COMMIT_WRITER -> true;
            case LIST -> fault == Fault.FAIL_BEFORE;
            default -> false;
        };
    }

    /** The same command again. If the first one had finished before its fault, nothing is left to do. */
    private static Erasure finished(InMemoryObjectStore store, String where) throws IOException, InterruptedException {
        try {
            return ErasableDataset.erase(store, ANN, BOB);
        } catch (UnerasableKeyException e) {
            assertThat(new ErasureFiles(Dataset.open(store)).unfinished())
                    .as(where)
                    .isEmpty();
            return new ErasureFiles(Dataset.open(store)).find("erase-1").orElseThrow();
        }
    }
}
