package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.copy.CopiedDatasets.append;
import static dev.stoker.metadata.copy.CopiedDatasets.chunk;
import static dev.stoker.metadata.copy.CopiedDatasets.chunks;
import static dev.stoker.metadata.copy.CopiedDatasets.expired;
import static dev.stoker.metadata.copy.CopiedDatasets.requireClean;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.run;
import static dev.stoker.metadata.copy.CopiedDatasets.tags;
import static dev.stoker.metadata.copy.CopiedDatasets.three;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.copy.CopyRule.Extra;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Copies of damaged sources and to damaged targets. */
class DamagedCopyTest {

    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);

    @Test
    void aDamagedChunkHidesTheVersionsThatNeedIt() throws Exception {
        InMemoryObjectStore source = three();
        byte[] damaged = source.readAll(chunk(2), 1 << 20);
        byte[] intact = damaged.clone();
        damaged[damaged.length / 2] ^= 1;
        source.corrupt(chunk(2), damaged);

        CopyResult result = run(source, target);
        assertThat(result.version()).isEqualTo(1);
        assertThat(result.wanted()).isEqualTo(3);
        assertThat(result.problems()).singleElement().satisfies(problem -> {
            assertThat(problem.file()).contains(chunk(2));
            assertThat(problem.chunk()).isEqualTo(1);
            assertThat(problem.message()).contains("has the CRC32C ");
        });
        assertThat(chunks(target)).as("the rest is copied").containsExactlyInAnyOrder(chunk(1), chunk(3));
        assertThat(tags(target)).isEmpty();
        requireClean(target);

        source.corrupt(chunk(2), intact);
        assertThat(run(source, target).copied().count()).isEqualTo(1);
        requireEqual(source, target);
    }

    @Test
    void aDamagedChunkHidesExpiredVersionsWithoutChunksToo() throws Exception {
        InMemoryObjectStore source = expired();
        source.delete(chunk(5));
        append(source, 6);
        CopyResult result = run(source, target);
        assertThat(result.problems())
                .singleElement()
                .satisfies(problem -> assertThat(problem.message()).isEqualTo("is missing"));
        assertThat(result.version()).isEqualTo(4);
        requireClean(target);

        InMemoryObjectStore other = new InMemoryObjectStore(CLOCK);
        source.delete(chunk(3));
        CopyResult nothing = run(source, other);
        assertThat(nothing.problems()).hasSize(2);
        assertThat(nothing.version()).isZero();
        assertThat(Dataset.open(other).latestVersion()).isZero();
    }

    @Test
    void aTableThatAKilledCopyHasLeftDoesNotBlockReaders() throws Exception {
        InMemoryObjectStore source = expired();
        FaultyObjectStore killed = new FaultyObjectStore(target)
                .on(
                        call -> call.name().startsWith(DatasetLayout.LOG) && call.operation() == Operation.CREATE,
                        Fault.FAIL_BEFORE);
        assertThatThrownBy(() -> run(source, killed)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> Dataset.open(target).latestVersion())
                .hasMessageContaining("lacks " + DatasetLayout.logEntry(4))
                .hasMessageContaining("rebuild it with `stoker recover /memory`");
        String lease = new ProcessLeases(Dataset.open(target), ProcessLeases.Kind.COPY).take(CLOCK, "ada@host");
        assertThatThrownBy(() -> Dataset.open(target).latestVersion())
                .hasMessageContaining("a copy to it is running or was interrupted: wait, or run stoker copy again");
        GarbageCollection.endProcess(Dataset.open(target), lease);

        byte[] chunk = source.readAll(chunk(3), 1 << 20);
        source.delete(chunk(3));
        target.delete(chunk(3));
        assertThat(run(source, target).isComplete()).isFalse();
        assertThat(Dataset.open(target).latestVersion()).isZero();
        source.createIfAbsent(chunk(3), chunk);
        run(source, target);
        requireEqual(source, target);
    }

    @Test
    void aBitThatFlipsOnceIsReadAgain() throws Exception {
        InMemoryObjectStore source = three();
        FaultyObjectStore faulty = new FaultyObjectStore(source)
                .once(call -> call.operation() == Operation.READ && call.name().equals(chunk(2)), Fault.FLIPPED_BIT);
        assertThat(run(faulty, target).isComplete()).isTrue();
        requireEqual(source, target);
    }

    @Test
    void aReadThatTheStoreRepeatsIsWrittenOnce() throws Exception {
        InMemoryObjectStore source = three();
        FaultyObjectStore faulty = new FaultyObjectStore(source)
                .on(call -> call.operation() == Operation.READ && call.name().startsWith("chunks/"), Fault.REPEATED);
        assertThat(run(faulty, target).isComplete()).isTrue();
        requireEqual(source, target);
    }

    @Test
    void replacesChunksOfAnotherLengthAndWithChecksumsDamagedOnes() throws Exception {
        InMemoryObjectStore source = three();
        run(source, target);
        target.corrupt(chunk(1), new byte[3]);
        assertThat(run(source, target).copied().count()).isEqualTo(1);
        byte[] damaged = target.readAll(chunk(2), 1 << 20);
        damaged[damaged.length - 1] ^= 1;
        target.corrupt(chunk(2), damaged);
        assertThat(run(source, target).copied().count()).as("only lengths").isZero();
        assertThat(run(source, target, Extra.CHECKSUMS).copied().count()).isEqualTo(1);
        requireEqual(source, target);
    }
}
