package dev.stoker.metadata.erasure;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static dev.stoker.metadata.erasure.ErasableDataset.ANN;
import static dev.stoker.metadata.erasure.ErasableDataset.BOB;
import static dev.stoker.metadata.erasure.ErasableDataset.check;
import static dev.stoker.metadata.erasure.ErasableDataset.containing;
import static dev.stoker.metadata.erasure.ErasableDataset.erase;
import static dev.stoker.metadata.erasure.ErasableDataset.keys;
import static dev.stoker.metadata.erasure.ErasableDataset.plan;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.index.IndexCheck;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.index.build.IndexBuild;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.ErasureResult;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What prevents an erasure, and files of writers that are running or have died. */
class ErasureBesideWritersTest {

    private InMemoryObjectStore store;
    private Dataset dataset;

    @BeforeEach
    void create() throws Exception {
        store = ErasableDataset.create();
        dataset = Dataset.open(store);
    }

    private void isWhole() throws IOException, InterruptedException {
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
        assertThat(Orphans.find(dataset, CLOCK)).isEmpty();
        assertThat(new IndexCheck(dataset, dataset.snapshot(), rows -> {}).run().differences())
                .isZero();
        assertThat(new Leases(dataset).all()).isEmpty();
    }

    @Test
    void anIndexBuildThatBeganBeforePublishesNoErasedKey() throws Exception {
        for (ObjectInfo run : store.list(DatasetLayout.INDEX).toList()) {
            store.delete(run.name());
        }
        List<Erasure> certificates = new ArrayList<>();
        // The build has read the rows of all chunks when it publishes them.
        FaultyObjectStore watched = new FaultyObjectStore(store)
                .on(
                        call -> {
                            if (call.operation() == FaultyObjectStore.Operation.COMMIT_WRITER
                                    && certificates.isEmpty()) {
                                assertThatCode(() -> certificates.add(erase(store, ANN, BOB)))
                                        .doesNotThrowAnyException();
                            }
                            return false;
                        },
                        FaultyObjectStore.Fault.FAIL_BEFORE);

        new IndexBuild(Dataset.open(watched), BuildThreads.ofCaller(), rows -> {}).update();

        assertThat(certificates).hasSize(1);
        assertThat(containing(store, Set.of("ann", "bob"))).isEmpty();
        assertThat(check(store, certificates.get(0)).findings()).isEmpty();
        new IndexBuild(dataset, BuildThreads.ofCaller(), rows -> {}).update();
        isWhole();
    }

    @Test
    void aTagBlocksTheErasureBeforeAnythingIsChanged() throws Exception {
        new Tags(dataset).set("best", 2, Tags.Mode.CREATE, CLOCK, "ada");

        assertThatThrownBy(() -> erase(store, ANN))
                .isInstanceOf(ErasureBlockedException.class)
                .hasMessageContaining("version 2 has the samples and is protected by tag best; delete the tag with:"
                        + " stoker tag /memory best --delete")
                .hasMessageContaining("Then run the same command again");
        assertThat(dataset.latestVersion()).isEqualTo(4);

        new Tags(dataset).delete("best", CLOCK, "ada");
        erase(store, ANN);
        assertThat(containing(store, Set.of("ann"))).isEmpty();
    }

    @Test
    void aFeedThatStartsDuringTheErasureBlocksItUntilItEnds() throws Exception {
        UUID feed = UUID.fromString("6f1d2c3b-4a59-5687-9784-a5b6c7d8e9f0");
        ErasureRun run = new ErasureRun(dataset, ErasableDataset.work());
        Erasure erasure = run.begin("erase-1", plan(store, keys(ANN)));
        new VersionUses(dataset).take(4, feed, CLOCK, "ada@host");

        assertThatThrownBy(() -> run.finish(erasure))
                .isInstanceOf(ErasureBlockedException.class)
                .hasMessageContaining("version 4")
                .hasMessageContaining(feed.toString())
                .hasMessageContaining("stoker expire /memory --end-feed " + feed + " --yes");

        new VersionUses(dataset).release(feed);
        // The same command, although the key may not be selectable any more.
        Erasure certificate = erase(store, ANN);
        assertThat(certificate.id()).isEqualTo("erase-1");
        assertThat(containing(store, Set.of("ann"))).isEmpty();
        isWhole();
    }

    @Test
    void aRunningCompactionBlocksTheErasure() throws Exception {
        new Leases(dataset).take("compact-7", CLOCK, "ada@host", "");

        assertThatThrownBy(() -> erase(store, ANN))
                .isInstanceOf(ErasureBlockedException.class)
                .hasMessageContaining("compaction compact-7 of ada@host may be copying the samples; wait for it, or if"
                        + " it has died: stoker gc /memory --break compact-7 --yes");
        new Leases(dataset).release("compact-7");
        erase(store, ANN);
        assertThat(containing(store, Set.of("ann"))).isEmpty();
    }

    @Test
    void chunksOfDeadWritersAreErasedAndThoseOfRunningWritersBlock() throws Exception {
        write(store, id(8), "dead", "train", ANN, "cat/8");
        write(store, id(9), "dead", "train", "cat/9");
        write(store, id(10), "running", "train", ANN);
        new Leases(dataset).take("running", CLOCK, "ada@host", "");
        assertThatThrownBy(() -> erase(store, ANN))
                .isInstanceOf(ErasureBlockedException.class)
                .hasMessageContaining("the running ingest running of ada@host has packed samples with the same keys");
        new Leases(dataset).release("running");

        Erasure certificate = erase(store, ANN);

        assertThat(containing(store, Set.of("ann"))).isEmpty();
        assertThat(certificate.result().orElseThrow().removed())
                .extracting(ErasedChunk::id)
                .contains(id(8), id(10))
                .doesNotContain(id(9));
        assertThat(store.length(ChunkNames.path(id(9)))).isPositive();
    }

    @Test
    void damagedFilesOfNoVersionAreDeletedOnlyWithoutWriters() throws Exception {
        store.createIfAbsent(ChunkNames.path(id(8)), "no chunk, with ann".getBytes(StandardCharsets.UTF_8));
        new Leases(dataset).take("running", CLOCK, "ada@host", "");
        assertThatThrownBy(() -> erase(store, ANN))
                .isInstanceOf(ErasureBlockedException.class)
                .hasMessageContaining("the damaged file " + ChunkNames.path(id(8)));
        new Leases(dataset).release("running");

        erase(store, ANN);

        assertThat(containing(store, Set.of("ann"))).isEmpty();
    }

    @Test
    void unfinishedFilesOfDeadWritersAreDeleted() throws Exception {
        var dead = store.write(ChunkNames.path(id(8)));
        dead.write(ByteBuffer.wrap("ann".getBytes(StandardCharsets.UTF_8)));
        new Leases(dataset).take("running", CLOCK, "ada@host", "");

        Erasure beside = erase(store, ANN);
        assertThat(beside.result().orElseThrow().notReached())
                .anyMatch(line -> line.startsWith("unfinished file of a running writer: chunks/"));
        new Leases(dataset).release("running");

        erase(store, BOB);
        assertThat(containing(store, Set.of("ann", "bob"))).isEmpty();
    }

    @Test
    void unfinishedChunksOfAnInterruptedRunAreDeletedThoughTheyAreYoungerThanTheErasure() throws Exception {
        ErasureWork early =
                ErasableDataset.work(InstantSource.fixed(CLOCK.instant().minusSeconds(3600)));
        Erasure erasure = new ErasureRun(dataset, early).begin("erase-1", plan(store, keys(ANN)));
        store.write(ChunkNames.path(id(8))).write(ByteBuffer.wrap(new byte[1]));
        store.write("_stoker/index/x").write(ByteBuffer.wrap(new byte[1]));

        new ErasureRun(dataset, ErasableDataset.work()).finish(erasure);

        // A writer without a lease may be at work on the other one.
        assertThat(store.listUnfinished("").toList())
                .singleElement()
                .satisfies(file -> assertThat(file.name()).startsWith("_stoker/index/x"));
    }

    @Test
    void aSampleThatOnlyADeadWriterHasPackedIsErased() throws Exception {
        write(store, id(8), "dead", "train", "cat/carl");

        Erasure certificate = erase(store, "cat/carl");

        assertThat(containing(store, Set.of("carl"))).isEmpty();
        assertThat(certificate.result().orElseThrow().versions()).isEqualTo(new ErasureResult.Versions(4, 4, ""));
        assertThat(check(store, certificate).isClean()).isTrue();
    }
}
