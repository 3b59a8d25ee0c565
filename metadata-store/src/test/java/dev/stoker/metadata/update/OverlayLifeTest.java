package dev.stoker.metadata.update;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.chunks.ChunkWrites;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.Update;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.diff.VersionComparison;
import dev.stoker.metadata.diff.VersionDiff;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.index.IndexCheck;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.rebuild.Rebuild;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Overlays are verified, compared, recovered and collected. */
class OverlayLifeTest extends UpdateFixture {
    @Test
    void differencesBetweenVersionsCountUpdatedSamples() throws Exception {
        commit("u1", "dog/1", "wolf", "cat/4", "lynx");
        commit("u2", "cat/4", "cat");

        VersionDiff diff = new VersionComparison(dataset, dataset.snapshot(1), dataset.snapshot(2), 2, n -> {})
                .run(VersionComparison.Samples.LISTED);
        assertThat(diff.samples())
                .containsExactly(
                        new VersionDiff.Sample("train", "cat/4", VersionDiff.Change.CHANGED),
                        new VersionDiff.Sample("train", "dog/1", VersionDiff.Change.CHANGED));
        VersionDiff back = new VersionComparison(dataset, dataset.snapshot(1), dataset.snapshot(3), 2, n -> {})
                .run(VersionComparison.Samples.LISTED);
        assertThat(back.samples())
                .containsExactly(new VersionDiff.Sample("train", "dog/1", VersionDiff.Change.CHANGED));
    }

    @Test
    void theIndexIsTheSameBeforeAndAfterAnUpdate() throws Exception {
        BuildThreads threads = new BuildThreads(Runnable::run, 1, 1 << 20);
        new IndexBuild(dataset, threads, rows -> {}).update();
        commit("u", "dog/1", "a longer name");

        assertThat(new IndexCheck(dataset, dataset.snapshot(), rows -> {}).run().problems())
                .isEmpty();
    }

    @Test
    void verificationNamesADamagedAndAMissingOverlay() throws Exception {
        commit("u", "dog/1", "wolf");
        String name = overlays().get(0);
        byte[] intact = store.readAll(name, 1 << 20);
        byte[] damaged = intact.clone();
        damaged[damaged.length / 2] ^= 1;
        store.corrupt(name, damaged);

        assertThat(problems()).singleElement().asString().contains(name).contains("CRC32C of the overlay");
        assertThatThrownBy(() -> labels(2))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining(name);
        store.delete(name);
        assertThat(problems()).singleElement().asString().contains(name).contains("The overlay is missing");
        assertThatThrownBy(() -> labels(2)).isInstanceOf(NoSuchObjectException.class);
        assertThat(labels(1)).containsEntry("dog/1", "dog");
    }

    @Test
    void anOverlayWithOtherKeysIsFoundByVerification() throws Exception {
        ChunkBuilder builder = new ChunkBuilder(LABEL, 4096);
        for (String key : List.of("cat/1", "cat/2", "dog/1")) {
            builder.beginRow(key);
            builder.setClass(0, "cat");
            builder.endRow();
        }
        UUID id = id(77);
        PackedChunk packed =
                builder.finish(new ChunkIdentity(info().id(), id, "odd", "train", Instant.EPOCH, Optional.of(id(1))));
        ChunkWrites.writeOverlay(store, packed);
        ChunkOverlay overlay =
                new ChunkOverlay(id, packed.summary().length(), packed.summary().crc32c());
        committer(dataset)
                .commit(VersionRequest.update(
                        "odd",
                        base -> new Update.Changes(
                                List.of(new UpdatedChunk(0, overlay, 100)), Map.of("label", List.of("cat"))),
                        base -> Map.of()));

        assertThat(problems())
                .singleElement()
                .asString()
                .contains("The overlay has the key 'cat/2' in the row of sample 'dog/1'");
    }

    @Test
    void aCommitWithoutTheFileOfItsOverlayFails() {
        ChunkOverlay overlay = new ChunkOverlay(id(78), 100, 0);
        assertThatThrownBy(() -> committer(dataset)
                        .commit(VersionRequest.update(
                                "odd",
                                base -> new Update.Changes(List.of(new UpdatedChunk(0, overlay, 100)), Map.of()),
                                base -> Map.of())))
                .hasMessageContaining(ChunkNames.overlayPath(id(78)))
                .hasMessageContaining("is missing");
    }

    private void isRecovered(Map<String, String> expected, String... lost) throws Exception {
        for (String name : lost) {
            store.delete(name);
        }
        Recovery.plan(store, "eve").apply();
        assertThat(labels(dataset.latestVersion())).isEqualTo(expected);
        assertThat(problems()).isEmpty();
    }

    private static String entry(long version) {
        return String.format(Locale.ROOT, "_stoker/log/%020d.avro", version);
    }

    @Test
    void aLostUpdateIsRestoredFromItsSecondCopy() throws Exception {
        commit("u", "dog/1", "wolf");
        isRecovered(labels(2), entry(2));
        assertThat(dataset.entry(2).operation()).isEqualTo(Operation.UPDATE);
    }

    @Test
    void theNewestUpdateIsRebuiltFromItsOverlays() throws Exception {
        commit("u1", "dog/1", "wolf");
        commit("u2", "cat/1", "tiger", "dog/2", "fox");
        Map<String, String> expected = labels(3);

        isRecovered(expected, entry(3), "_stoker/ingests/u2.avro");

        assertThat(dataset.entry(3).ingest()).isEqualTo("u2");
        assertThat(labels(2)).containsEntry("cat/1", "cat").containsEntry("dog/1", "wolf");
    }

    @Test
    void anUpdateBetweenOtherVersionsIsRebuiltFromItsOverlays() throws Exception {
        commit("u1", "dog/1", "wolf");
        append("b", write(store, id(4), "b", "train", "dog/9"));
        Map<String, String> expected = labels(3);

        isRecovered(expected, entry(2), "_stoker/ingests/u1.avro");
    }

    @Test
    void updatesComeBackIfTheWholeLogIsLost() throws Exception {
        commit("u1", "dog/1", "wolf", "cat/4", "lynx");
        commit("u2", "cat/1", "tiger");
        Map<String, String> expected = labels(3);

        isRecovered(
                expected,
                entry(1),
                entry(2),
                entry(3),
                "_stoker/ingests/a.avro",
                "_stoker/ingests/u1.avro",
                "_stoker/ingests/u2.avro",
                "_stoker/versions/00000000000000000001.txt",
                "_stoker/versions/00000000000000000002.txt",
                "_stoker/versions/00000000000000000003.txt");
    }

    @Test
    void aRebuildHasTheNewestValues() throws Exception {
        commit("u1", "dog/1", "wolf", "cat/4", "lynx");
        commit("u2", "cat/1", "tiger");
        Map<String, String> expected = labels(3);
        for (ObjectInfo object : store.list("_stoker").toList()) {
            if (!object.name().contains("dataset")) {
                store.delete(object.name());
            }
        }

        try (Rebuild rebuild = Rebuild.plan(store, new BuildThreads(Runnable::run, 1, 1 << 20), n -> {})) {
            assertThat(rebuild.versions()).isEqualTo(2);
            assertThat(rebuild.notes()).anyMatch(note -> note.contains("in 2 overlays"));
            rebuild.apply();
        }

        assertThat(labels(2)).isEqualTo(expected);
        assertThat(labels(1)).containsEntry("dog/1", "dog");
        assertThat(problems()).isEmpty();
    }

    private List<String> collect() throws IOException {
        return GarbageCollection.plan(dataset, Duration.ZERO, CLOCK).apply().stream()
                .map(Orphan::name)
                .toList();
    }

    @Test
    void garbageCollectionKeepsOverlaysOfVersionsAndDeletesOthers() throws Exception {
        commit("u1", "dog/1", "wolf");
        List<String> first = overlays();
        commit("u2", "cat/1", "tiger", "cat/4", "lynx");
        assertThat(collect()).isEmpty();
        assertThat(overlays()).hasSize(3);

        Expiry.plan(dataset, new Expiry.Rule(Optional.empty(), OptionalLong.of(2)), CLOCK)
                .commit("e1", "ada@host");
        // Version 2 is kept, and so is its overlay.
        assertThat(collect()).isEmpty();
        Expiry.plan(dataset, new Expiry.Rule(Optional.empty(), OptionalLong.of(1)), CLOCK)
                .commit("e2", "ada@host");
        assertThat(collect()).containsExactlyElementsOf(first);
        assertThat(overlays()).hasSize(2);
        assertThat(labels(dataset.latestVersion()))
                .containsEntry("dog/1", "wolf")
                .containsEntry("cat/1", "tiger");
        assertThat(problems()).isEmpty();
    }

    @Test
    void aTagKeepsTheOverlaysOfItsVersion() throws Exception {
        commit("u1", "dog/1", "wolf");
        commit("u2", "cat/1", "tiger");
        new Tags(dataset).set("paper", 2, Tags.Mode.CREATE, CLOCK, "ada@host");
        Expiry.plan(dataset, new Expiry.Rule(Optional.empty(), OptionalLong.of(1)), CLOCK)
                .commit("e", "ada@host");

        assertThat(collect()).isEmpty();
        assertThat(labels(2)).containsEntry("dog/1", "wolf").containsEntry("cat/1", "cat");
    }

    @Test
    void theOverlaysOfADeadUpdateAreGarbageWhenItIsEnded() throws Exception {
        FaultyObjectStore dying = new FaultyObjectStore(store)
                .on(
                        call -> call.operation() == FaultyObjectStore.Operation.CREATE
                                && call.name().startsWith("_stoker/log/"),
                        Fault.CRASH_BEFORE);
        assertThatThrownBy(() -> new SampleUpdate(
                                Dataset.open(dying), labels("dog/1", "wolf"), SampleRule.MissingKeys.FAIL, 1, n -> {})
                        .commit("dead", CLOCK, "ada@host"))
                .isNotNull();
        assertThat(dataset.latestVersion()).isEqualTo(1);
        assertThat(labels(1)).containsEntry("dog/1", "dog");
        assertThat(overlays()).hasSize(1);

        // Its lease protects the file.
        assertThat(collect()).isEmpty();
        GarbageCollection.end(dataset, "dead", CLOCK, "eve");
        assertThat(overlays()).isEmpty();
        assertThatThrownBy(() -> commit("dead", "dog/1", "wolf")).isInstanceOf(AbandonedException.class);
    }
}
