package dev.stoker.metadata.follow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.dataset.EpochChoiceBlock;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.Interleaving;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EpochVersionsTest {
    private static final EpochChoice.Pass PASS = new EpochChoice.Pass(new UUID(1, 2), "train", "default");
    private static final int BLOCK = EpochChoiceBlock.EPOCHS;
    private static final OptionalLong ANY = OptionalLong.empty();

    private final InMemoryObjectStore memory = new InMemoryObjectStore(SampleDatasets.CLOCK);
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private Dataset dataset;
    private EpochVersions versions;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, SampleDatasets.info());
        SampleDatasets.place(store, 1, 20);
        versions = of(PASS);
    }

    private EpochVersions of(EpochChoice.Pass pass) {
        return new EpochVersions(dataset, pass, () -> Instant.EPOCH);
    }

    private void commit() throws IOException {
        long next = dataset.latestVersion() + 1;
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append(
                        "ingest-" + next, List.of(SampleDatasets.summary((int) next, "train", 1)), Map.of(), Map.of()));
    }

    private long choose(long epoch) throws IOException {
        return versions.choose(epoch, ANY, version -> {});
    }

    @Test
    void anEpochKeepsTheVersionThatWasTheNewestWhenItWasFirstAskedFor() throws IOException {
        commit();
        assertThat(choose(0)).isEqualTo(1);
        commit();
        assertThat(choose(0)).isEqualTo(1);
        assertThat(choose(1)).isEqualTo(2);
        assertThat(of(PASS).choose(1, OptionalLong.of(2), version -> {})).isEqualTo(2);
        assertThat(versions.find(2)).isEmpty();
        assertThat(versions.all(e -> {})).isEqualTo(Map.of(0L, 1L, 1L, 2L));
    }

    @Test
    void aDatasetWithoutVersionsHasNoneToChoose() {
        assertThatThrownBy(() -> choose(0)).isInstanceOf(UnknownVersionException.class);
    }

    @Test
    void groupsChooseForThemselves() throws IOException {
        commit();
        choose(0);
        commit();
        assertThat(of(new EpochChoice.Pass(PASS.feed(), "train", "other")).choose(0, ANY, version -> {}))
                .isEqualTo(2);
    }

    @Test
    void aStateDecidesWhereNothingWasChosen() throws IOException {
        commit();
        commit();
        commit();
        assertThat(versions.choose(5, OptionalLong.of(2), version -> {})).isEqualTo(2);
        assertThat(choose(5)).isEqualTo(2);
        assertThatThrownBy(() -> versions.choose(5, OptionalLong.of(3), version -> {}))
                .isInstanceOf(OtherVersionException.class)
                .hasMessageContaining("epoch 5 of stream train, group default has version 2 here")
                .hasMessageContaining("version 3 in the trainer's state");
        assertThatThrownBy(() -> versions.choose(6, OptionalLong.of(4), version -> {}))
                .isInstanceOf(UnknownVersionException.class)
                .hasMessageContaining("no version 4");
        assertThat(versions.find(6)).isEmpty();
        // An earlier epoch that is begun after a later one is no newer than that, a later one is the newest again.
        assertThat(choose(3)).isEqualTo(2);
        assertThat(choose(6)).isEqualTo(3);
    }

    @Test
    void whatDoesNotPassTheCheckIsNotChosen() throws IOException {
        commit();
        assertThatThrownBy(() -> versions.choose(0, ANY, version -> {
                    throw new IOException("nothing in version " + version);
                }))
                .hasMessage("nothing in version 1");
        assertThat(versions.find(0)).isEmpty();
    }

    @Test
    void manyThatAskAtOnceGetOneAnswer() throws Exception {
        commit();
        ExecutorService threads = Executors.newFixedThreadPool(9);
        try {
            for (int epoch = 0; epoch < 10; epoch++) {
                long asked = epoch;
                CyclicBarrier start = new CyclicBarrier(9);
                List<Callable<Long>> tasks = new ArrayList<>();
                for (int i = 0; i < 8; i++) {
                    tasks.add(() -> {
                        start.await();
                        return of(PASS).choose(asked, ANY, version -> {});
                    });
                }
                tasks.add(() -> {
                    start.await();
                    commit();
                    return -1L;
                });
                List<Long> found = new ArrayList<>();
                for (Future<Long> answer : threads.invokeAll(tasks)) {
                    found.add(answer.get());
                }
                assertThat(found.subList(0, 8))
                        .containsOnly(versions.find(asked).orElseThrow());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Of a group that reads a new version every 20th epoch. */
    private Map<Long, Long> chooseUpTo(long end) throws IOException {
        Map<Long, Long> chosen = new TreeMap<>();
        for (long epoch = 0; epoch < end; epoch++) {
            if (epoch % 20 == 0) {
                commit();
            }
            chosen.put(epoch, choose(epoch));
        }
        return chosen;
    }

    private List<String> files() throws IOException {
        String folder = DatasetLayout.FEEDS + PASS.folder();
        List<String> names = new ArrayList<>();
        try (ObjectIterator files = memory.list(folder)) {
            while (files.hasNext()) {
                names.add(files.next().name().substring(folder.length()));
            }
        }
        return names;
    }

    @Test
    void aLongFeedLeavesFewFilesAndEveryVersionIsStillKnown() throws IOException {
        Map<Long, Long> chosen = chooseUpTo(5 * BLOCK);
        assertThat(files()).hasSizeLessThanOrEqualTo(4 + BLOCK);
        assertThat(versions.all(e -> {})).isEqualTo(chosen);
        for (long epoch : chosen.keySet()) {
            assertThat(choose(epoch)).isEqualTo(chosen.get(epoch));
        }
        assertThatThrownBy(() -> versions.choose(0, OptionalLong.of(2), version -> {}))
                .isInstanceOf(OtherVersionException.class);
    }

    @Test
    void aBlockWithAGapIsNotCombined() throws IOException {
        commit();
        for (long epoch = 1; epoch <= BLOCK; epoch++) {
            choose(epoch);
        }
        assertThat(files()).hasSize(BLOCK);
        commit();
        assertThat(choose(0)).as("no newer than epoch 1").isEqualTo(1);
        assertThat(choose(BLOCK + 1)).isEqualTo(2);
        assertThat(files()).hasSize(3);
        assertThat(choose(0)).isEqualTo(1);
    }

    /** It found no choice of the epoch, was suspended, and others chose and combined meanwhile. */
    @Test
    void aProcessThatWritesAChoiceLateGetsTheOneOfTheBlock() throws IOException {
        Map<Long, Long> chosen = chooseUpTo(BLOCK + 1);
        commit();
        byte[] late = new EpochChoice(PASS, 5, dataset.info().id(), dataset.latestVersion(), Instant.EPOCH).encode();
        assertThat(memory.createIfAbsent(DatasetLayout.FEEDS + PASS.name(5), late))
                .isTrue();
        assertThat(choose(5)).isEqualTo(chosen.get(5L));
        assertThat(versions.all(e -> {})).isEqualTo(chosen);
        choose(BLOCK + 1);
        assertThat(files()).as("the late choice is removed").hasSize(3);
    }

    @Test
    void aCombinationThatFailsIsRepeatedWithALaterEpoch() throws IOException {
        chooseUpTo(BLOCK);
        store.once(call -> call.operation() == Operation.DELETE, Fault.FAIL_BEFORE);
        assertThat(choose(BLOCK)).isEqualTo(dataset.latestVersion());
        assertThat(files()).hasSizeGreaterThan(BLOCK);
        choose(BLOCK + 1);
        assertThat(files()).hasSize(3);
        assertThat(versions.all(e -> {})).hasSize(BLOCK + 2);
    }

    @Test
    void aDamagedOrMisplacedBlockIsNamedAndReportedOnce() throws IOException {
        chooseUpTo(2 * BLOCK + 1);
        String name = DatasetLayout.FEEDS + EpochChoiceBlock.name(PASS, 0);
        byte[] right = memory.readAll(name, 1 << 20);
        byte[] wrong = right.clone();
        wrong[wrong.length - 3] ^= 1;
        memory.delete(name);
        memory.createIfAbsent(name, wrong);
        assertThatThrownBy(() -> choose(3))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("delete it");
        List<StokerException> damaged = new ArrayList<>();
        assertThat(versions.all(damaged::add)).hasSize(BLOCK + 1).doesNotContainKey(3L);
        assertThat(damaged).hasSize(1);
        String other = DatasetLayout.FEEDS + EpochChoiceBlock.name(PASS, BLOCK);
        memory.delete(other);
        memory.createIfAbsent(other, right);
        assertThatThrownBy(() -> choose(BLOCK + 3))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("the choices of 64 epochs from 64 of stream train, group default")
                .hasMessageContaining("it has the choices from epoch 0");
    }

    /** An audit begins, another process combines a block, and both continue in turn. */
    @Test
    void readersBesideACombinationFindEveryVersion() throws Exception {
        Map<Long, Long> chosen = chooseUpTo(BLOCK);
        Map<String, byte[]> before = new TreeMap<>();
        for (String name : files()) {
            before.put(name, memory.readAll(DatasetLayout.FEEDS + PASS.folder() + name, 1 << 20));
        }
        Interleaving.Program audit = own -> assertThat(reader(own).all(e -> {})).containsAllEntriesOf(chosen);
        Interleaving.Program combine = own -> reader(own).choose(BLOCK, ANY, version -> {});
        try (Interleaving both = new Interleaving()) {
            for (int audited = 0; audited < 12; audited++) {
                for (int combined = 0; combined < 2 * BLOCK + 20; combined += 3) {
                    restore(before);
                    Interleaving.Schedule schedule = new Interleaving.Schedule(0, List.of(audited, combined, 3));
                    Interleaving.Outcome outcome =
                            both.run(memory, List.of(audit, combine), schedule, Optional.empty());
                    assertThat(outcome.failures()).as("%s", schedule).containsOnly(Optional.empty());
                    assertThat(files()).hasSize(2);
                }
            }
        }
    }

    private EpochVersions reader(ObjectStore own) throws IOException {
        return new EpochVersions(Dataset.open(own), PASS, () -> Instant.EPOCH);
    }

    private void restore(Map<String, byte[]> files) throws IOException {
        for (String name : files()) {
            memory.delete(DatasetLayout.FEEDS + PASS.folder() + name);
        }
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
            memory.createIfAbsent(DatasetLayout.FEEDS + PASS.folder() + file.getKey(), file.getValue());
        }
    }

    @Test
    void anUnknownOutcomeIsReadBack() throws IOException {
        commit();
        store.once(call -> call.operation() == Operation.CREATE, Fault.UNKNOWN_AFTER_EFFECT);
        assertThat(choose(0)).isEqualTo(1);
        store.once(call -> call.operation() == Operation.CREATE, Fault.UNKNOWN_WITHOUT_EFFECT);
        assertThat(choose(1)).isEqualTo(1);
        store.reset();
        store.on(call -> call.operation() == Operation.CREATE, Fault.UNKNOWN_WITHOUT_EFFECT);
        assertThatThrownBy(() -> choose(2)).hasMessageContaining("was written, but is not there");
    }

    @Test
    void aDamagedOrMisplacedChoiceIsNamed() throws IOException {
        commit();
        choose(0);
        String name = DatasetLayout.FEEDS + PASS.name(0);
        byte[] right = memory.readAll(name, 1 << 20);
        byte[] wrong = right.clone();
        wrong[wrong.length - 3] ^= 1;
        memory.delete(name);
        memory.createIfAbsent(name, wrong);
        assertThatThrownBy(() -> choose(0))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining(name)
                .hasMessageContaining("delete it");
        memory.createIfAbsent(DatasetLayout.FEEDS + PASS.name(1), right);
        assertThatThrownBy(() -> choose(1))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("the choice of epoch 1 of stream train, group default")
                .hasMessageContaining("it is the choice of epoch 0");
        // If the choice is lost, the epoch gets the newest version, unless a trainer's state has one.
        memory.delete(name);
        commit();
        assertThat(versions.choose(0, OptionalLong.of(1), version -> {})).isEqualTo(1);
    }
}
