package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.copy.CopiedDatasets.append;
import static dev.stoker.metadata.copy.CopiedDatasets.chunks;
import static dev.stoker.metadata.copy.CopiedDatasets.content;
import static dev.stoker.metadata.copy.CopiedDatasets.copy;
import static dev.stoker.metadata.copy.CopiedDatasets.expire;
import static dev.stoker.metadata.copy.CopiedDatasets.expired;
import static dev.stoker.metadata.copy.CopiedDatasets.names;
import static dev.stoker.metadata.copy.CopiedDatasets.requireClean;
import static dev.stoker.metadata.copy.CopiedDatasets.requireEqual;
import static dev.stoker.metadata.copy.CopiedDatasets.run;
import static dev.stoker.metadata.copy.CopiedDatasets.tag;
import static dev.stoker.metadata.copy.CopiedDatasets.tags;
import static dev.stoker.metadata.copy.CopiedDatasets.upTo;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.CollectionRunningException;
import dev.stoker.metadata.CopyRefusedException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.GarbageCollection;
import dev.stoker.metadata.ProcessLeases;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.copy.CopyRule.Extra;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class DatasetCopyTest {

    private final InMemoryObjectStore target = new InMemoryObjectStore(CLOCK);

    private static InMemoryObjectStore three() throws IOException {
        InMemoryObjectStore source = CopiedDatasets.empty();
        append(source, 1);
        append(source, 2);
        append(source, 3);
        tag(source, "best", 2);
        return source;
    }

    private static String chunk(int number) {
        return ChunkNames.path(id(number));
    }

    @Test
    void makesTheSameDataset() throws Exception {
        InMemoryObjectStore source = three();

        CopyResult planned = copy(source, target, CopiedDatasets.rule()).plan();
        assertThat(names(target, "")).isEmpty();
        CopyResult result = run(source, target);

        requireEqual(source, target);
        assertThat(content(target)).isEqualTo(content(source));
        assertThat(result.versions()).isEqualTo(planned.versions()).isEqualTo(3);
        assertThat(result.copied()).isEqualTo(planned.copied());
        assertThat(result.copied().count()).isEqualTo(3);
        assertThat(result.copied().bytes())
                .isEqualTo(Dataset.open(source).snapshot().table().liveBytes());
    }

    @Test
    void copiesOnlyWhatIsNew() throws Exception {
        InMemoryObjectStore source = three();
        run(source, target);
        FaultyObjectStore watched = new FaultyObjectStore(source);
        CopyResult again = run(watched, target);
        assertThat(again.isUnchanged()).isTrue();
        assertThat(again.present()).isEqualTo(3);
        assertThat(watched.calls()).noneMatch(call -> call.name().startsWith("chunks/"));

        append(source, 4);
        tag(source, "best", 4);
        watched.reset();
        CopyResult more = run(watched, target);
        assertThat(more.before()).isEqualTo(3);
        assertThat(more.version()).isEqualTo(4);
        assertThat(more.copied().count()).isEqualTo(1);
        assertThat(more.present()).isEqualTo(3);
        assertThat(watched.calls().stream()
                        .filter(call -> call.name().startsWith("chunks/"))
                        .map(FaultyObjectStore.Call::name))
                .containsOnly(chunk(4));
        requireEqual(source, target);
    }

    @Test
    void copiesUpToAVersion() throws Exception {
        InMemoryObjectStore source = three();
        tag(source, "last", 3);
        copy(source, target, upTo(2)).run();

        assertThat(Dataset.open(target).latestVersion()).isEqualTo(2);
        assertThat(chunks(target)).containsExactlyInAnyOrder(chunk(1), chunk(2));
        assertThat(tags(target)).isEqualTo(Map.of("best", 2L));
        requireClean(target);
        assertThat(copy(source, target, upTo(1)).run().version()).isEqualTo(2);
        assertThatThrownBy(() -> copy(source, target, upTo(4)).run()).isInstanceOf(UnknownVersionException.class);

        run(source, target);
        requireEqual(source, target);
    }

    @Test
    void leavesOutChunksOfExpiredVersions() throws Exception {
        InMemoryObjectStore source = expired();
        CopyResult result = run(source, target);

        requireEqual(source, target);
        assertThat(result.versions()).isEqualTo(5);
        assertThat(chunks(target)).containsExactlyInAnyOrder(chunk(3), chunk(5));
        assertThat(tags(target)).isEqualTo(Map.of("best", 3L));
        assertThatThrownBy(() -> Dataset.open(target).snapshot(2)).isInstanceOf(ExpiredVersionException.class);
        assertThat(run(source, target).isUnchanged()).isTrue();
    }

    @Test
    void refusesAVersionBeforeTheExpiryOfEarlierOnes() throws IOException {
        InMemoryObjectStore source = expired();
        assertThatThrownBy(() -> copy(source, target, upTo(3)).run())
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("Version 1 of ")
                .hasMessageContaining("was expired by version 4")
                .hasMessageContaining("copy up to version 4 or a later one");
        copyUpToFour(source);
    }

    private void copyUpToFour(InMemoryObjectStore source) throws IOException {
        copy(source, target, upTo(4)).run();
        assertThat(Dataset.open(target).latestVersion()).isEqualTo(4);
    }

    @Test
    void namesTheVersionAtWhichTheTargetDiverged() throws IOException {
        InMemoryObjectStore source = three();
        run(source, target);
        append(target, 7);
        append(target, 8);

        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("has version 5, but version 3 is the newest of");
        for (int number = 10; number < 14; number++) {
            append(source, number);
        }
        Map<String, String> before = content(target);
        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("Version 4 of ")
                .hasMessageContaining("a commit was made to one of the two after the last copy")
                .hasMessageContaining("give the copy another target");
        assertThat(content(target)).isEqualTo(before);
    }

    @Test
    void noticesAnEntryThatDiffersBeforeTheNewest() throws IOException {
        InMemoryObjectStore source = three();
        run(source, target);
        InMemoryObjectStore other = CopiedDatasets.empty();
        append(other, 1);
        append(other, 9);
        target.corrupt(DatasetLayout.logEntry(2), other.readAll(DatasetLayout.logEntry(2), 1 << 20));
        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("Version 2 of ");
    }

    @Test
    void neverTouchesAnotherDataset() throws IOException {
        InMemoryObjectStore source = three();
        DatasetInfo own = SampleDatasets.info();
        Dataset.create(target, new DatasetInfo(new UUID(1, 2), own.name(), own.created(), own.fields(), own.options()));
        Map<String, String> before = content(target);

        assertThatThrownBy(() -> run(source, target))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("is another dataset than ")
                .hasMessageContaining("00000000-0000-0001-0000-000000000002");
        assertThat(content(target)).isEqualTo(before);
    }

    @Test
    void anEmptySourceChangesNothing() throws IOException {
        run(three(), target);
        Map<String, String> before = content(target);
        InMemoryObjectStore source = CopiedDatasets.empty();
        assertThatThrownBy(() -> run(source, target, Extra.TAGS_OF_SOURCE))
                .isInstanceOf(CopyRefusedException.class)
                .hasMessageContaining("has version 3, but there is no version in ");
        assertThat(content(target)).isEqualTo(before);
    }

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
                .hasMessageContaining("rebuild it with `stoker recover`");
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

    @Test
    void bringsChangesOfTagsAndAMirrorUndoesThoseOfTheTarget() throws Exception {
        InMemoryObjectStore source = three();
        run(source, target);
        tag(source, "best", 3);
        new Tags(Dataset.open(source)).set("gone", 1, Tags.Mode.CREATE, CLOCK, "ada");
        run(source, target);
        assertThat(tags(target)).isEqualTo(Map.of("best", 3L, "gone", 1L));

        new Tags(Dataset.open(source)).delete("gone", CLOCK, "ada");
        tag(target, "best", 1);
        tag(target, "own", 1);
        run(source, target);
        assertThat(tags(target)).isEqualTo(Map.of("best", 1L, "own", 1L));
        CopyResult mirrored = run(source, target, Extra.TAGS_OF_SOURCE);
        assertThat(mirrored.others().count()).isEqualTo(2);
        requireEqual(source, target);
        assertThat(run(source, target, Extra.TAGS_OF_SOURCE).isUnchanged()).isTrue();
        tag(source, "best", 1);
        run(source, target, Extra.TAGS_OF_SOURCE);
        requireEqual(source, target);
    }

    @Test
    void copiesLedgersOnRequest() throws IOException {
        InMemoryObjectStore source = three();
        String ledger = DatasetLayout.FEEDS + new UUID(1, 2) + "/ledger/part-1.avro";
        byte[] content = "a ledger".getBytes(StandardCharsets.UTF_8);
        source.createIfAbsent(ledger, content);
        source.createIfAbsent(DatasetLayout.DEAD_LETTERS + "topic/0/1.json", new byte[0]);
        run(source, target);
        assertThat(names(target, DatasetLayout.FEEDS)).isEmpty();

        assertThat(run(source, target, Extra.LEDGERS).others()).isEqualTo(new CopyResult.Files(2, content.length));
        assertThat(target.readAll(ledger, 100)).isEqualTo(content);
        assertThat(run(source, target, Extra.LEDGERS).isUnchanged()).isTrue();
    }

    @Test
    void copiesASourceThatCannotBeWritten() throws Exception {
        InMemoryObjectStore source = three();
        FaultyObjectStore readOnly =
                new FaultyObjectStore(source).on(call -> call.operation().changes(), Fault.FAIL_BEFORE);
        assertThat(run(readOnly, target).isComplete()).isTrue();
        requireEqual(source, target);
    }

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
    void restoresFromTheCopy() throws Exception {
        InMemoryObjectStore source = expired();
        run(source, target);
        InMemoryObjectStore restored = new InMemoryObjectStore(CLOCK);
        run(target, restored);
        requireEqual(source, restored);
        append(restored, 9);
        requireClean(restored);
        assertThat(List.copyOf(chunks(restored))).contains(chunk(9));
    }
}
