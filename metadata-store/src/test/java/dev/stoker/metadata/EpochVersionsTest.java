package dev.stoker.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
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
                .commit(CommitRequest.append(
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
                .hasMessageContaining("epoch 5 of stream train, group default is version 2 here")
                .hasMessageContaining("state is of version 3");
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
                .hasMessageContaining("it is that of epoch 0");
        // Lost, and with it what it said: the newest, unless a state knows.
        memory.delete(name);
        commit();
        assertThat(versions.choose(0, OptionalLong.of(1), version -> {})).isEqualTo(1);
    }
}
