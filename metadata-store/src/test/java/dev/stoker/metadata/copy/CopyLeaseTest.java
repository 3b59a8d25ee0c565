package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.copy.CopiedDatasets.append;
import static dev.stoker.metadata.copy.CopiedDatasets.expire;
import static dev.stoker.metadata.copy.CopiedDatasets.names;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.run;
import static dev.stoker.metadata.copy.CopiedDatasets.three;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.gc.CollectionRunningException;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Copies and garbage collections wait for one another. */
class CopyLeaseTest {

    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);

    @Test
    void garbageCollectionDeletesNoChunkBesideACopy() throws Exception {
        InMemoryObjectStore source = three();
        expire(source, 4);
        Dataset dataset = Dataset.open(source);
        CopiedDatasets.replace(source, 5);
        expire(source, 6);
        SampleDatasets.write(source, id(20), "unknown", "train", "x/1");
        GarbageCollection planned = GarbageCollection.plan(dataset, Duration.ZERO, CLOCK);
        ProcessLeases copies = new ProcessLeases(dataset, ProcessLeases.Kind.COPY);
        String lease = copies.take(CLOCK, "ada@host");

        assertThat(planned.apply()).isEmpty();
        GarbageCollection beside = GarbageCollection.plan(dataset, Duration.ZERO, CLOCK);
        assertThat(beside.copies()).containsOnlyKeys(lease);
        assertThat(beside.apply()).isEmpty();
        assertThat(GarbageCollection.endProcess(dataset, "copy-unknown")).isFalse();
        assertThat(GarbageCollection.endProcess(dataset, lease)).isTrue();
        assertThat(planned.apply())
                .as("the third version and the unknown chunk")
                .hasSize(2);
        assertThat(names(source, DatasetLayout.COLLECTIONS)).isEmpty();
    }

    /** A copy starts after the collection has looked for copies, and a version is expired before it reads the log. */
    @Test
    void garbageCollectionLooksForCopiesAgainAfterItHasReadTheLog() throws IOException {
        InMemoryObjectStore source = CopiedDatasets.empty();
        for (int number = 1; number < 4; number++) {
            CopiedDatasets.replace(source, number);
        }
        expire(source, 10);
        boolean[] hasLooked = {false, false};
        FaultyObjectStore watched = new FaultyObjectStore(source)
                .on(
                        call -> {
                            if (hasLooked[0] && !hasLooked[1]) {
                                hasLooked[1] = true;
                                startCopyAndExpire(source);
                            }
                            boolean isCreated = isCollecting(source);
                            hasLooked[0] |= isCreated && call.name().equals(DatasetLayout.COPIES);
                            return false;
                        },
                        Fault.FAIL_BEFORE);
        GarbageCollection collection = GarbageCollection.plan(Dataset.open(watched), Duration.ZERO, CLOCK);
        assertThat(collection.expired()).isNotEmpty();
        assertThat(collection.apply()).isEmpty();
        assertThat(hasLooked[1]).isTrue();
    }

    private static boolean isCollecting(InMemoryObjectStore store) {
        try {
            return !names(store, DatasetLayout.COLLECTIONS).isEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void startCopyAndExpire(InMemoryObjectStore source) {
        try {
            new ProcessLeases(Dataset.open(source), ProcessLeases.Kind.COPY).take(CLOCK, "ada@host");
            append(source, 9);
            expire(source, 20);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void waitsForNoCollectionAtTheTarget() throws IOException {
        InMemoryObjectStore source = three();
        run(source, target);
        append(source, 4);
        Dataset dataset = Dataset.open(target);
        String lease = new ProcessLeases(dataset, ProcessLeases.Kind.COLLECTION).take(CLOCK, "eve@host");
        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CollectionRunningException.class)
                .hasMessageContaining("of eve@host is running")
                .hasMessageContaining("--break " + lease);
        assertThat(GarbageCollection.endProcess(dataset, lease)).isTrue();
        assertThat(run(source, target).copied().count()).isEqualTo(1);
    }

    @Test
    void copiesASourceThatCannotBeWritten() throws Exception {
        InMemoryObjectStore source = three();
        FaultyObjectStore readOnly =
                new FaultyObjectStore(source).on(call -> call.operation().changes(), Fault.FAIL_BEFORE);
        assertThat(run(readOnly, target).isComplete()).isTrue();
        requireEqual(source, target);
    }
}
