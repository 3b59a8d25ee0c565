package dev.stoker.metadata.commit;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.append;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The chunk tables that commits write. */
class CommitTablesTest {
    private final InMemoryObjectStore memory = new InMemoryObjectStore(CLOCK);
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(memory, info());
        place(memory, 0, 20);
    }

    @Test
    void writesATableEveryHundredCommits() throws IOException {
        place(memory, 21, 201);
        VersionCommitter committer = committer(dataset);
        for (int v = 1; v <= 201; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
        }

        assertThat(memory.list(DatasetLayout.TABLES).toList())
                .extracting(info -> info.name())
                .containsExactlyInAnyOrder(DatasetLayout.table(100), DatasetLayout.table(200));
    }

    @Test
    void keepsFewTablesOfWhichEveryVersionHasOneThatIsNotMuchOlder() throws IOException {
        place(memory, 21, 300);
        VersionCommitter committer = new VersionCommitter(dataset, CLOCK, "ada", new TablePolicy(1, 1000));
        for (int v = 1; v <= 300; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
            NavigableSet<Long> tables = dataset.log().tables();
            assertThat(tables).hasSizeLessThan(14).contains((long) v, (long) Math.max(1, v - 1), (long)
                    Math.max(1, v - 2));
        }
        assertThat(dataset.snapshot(1).table().size()).isEqualTo(1);
        assertThat(dataset.snapshot(150).table().size()).isEqualTo(150);
    }

    @Test
    void aTableThatIsSupersededWhileAReaderIsOnItsWayIsDoneWithout() throws IOException {
        VersionCommitter committer = new VersionCommitter(dataset, CLOCK, "ada", new TablePolicy(2, 1000));
        for (int v = 1; v <= 9; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
        }
        Dataset reader = Dataset.open(faulty);
        faulty.on(
                call -> {
                    if (call.operation() == FaultyObjectStore.Operation.READ_ALL
                            && call.name().startsWith(DatasetLayout.TABLES)) {
                        memory.delete(call.name());
                    }
                    return false;
                },
                Fault.FAIL_BEFORE);

        assertThat(reader.snapshot().table().size()).isEqualTo(9);
    }

    @Test
    void writesATableAfterManyChunks() throws IOException {
        List<ChunkSummary> chunks = new ArrayList<>();
        for (int i = 0; i < 4096; i++) {
            chunks.add(summary(i, "train", 1));
        }
        place(memory, 21, 4095);
        place(memory, 5000, 5000);
        committer(dataset).commit(append("many", chunks.toArray(new ChunkSummary[0])));
        committer(dataset).commit(append("one", summary(5000, "train", 1)));

        assertThat(memory.list(DatasetLayout.TABLES).toList())
                .extracting(info -> info.name())
                .containsExactly(DatasetLayout.table(1));
    }

    @Test
    void aTableThatCannotBeWrittenIsNoFailure() throws IOException {
        faulty.reset();
        VersionCommitter committer = new VersionCommitter(Dataset.open(faulty), CLOCK, "ada", new TablePolicy(1, 1));
        faulty.on(call -> call.name().startsWith(DatasetLayout.TABLES), Fault.FAIL_BEFORE);

        // Opening a dataset lists the tables, so only writes of tables fail here.
        faulty.reset();
        faulty.on(
                call -> call.name().startsWith(DatasetLayout.TABLES)
                        && call.operation() == FaultyObjectStore.Operation.CREATE,
                Fault.NO_SPACE);
        assertThat(committer.commit(append("a", summary(1, "train", 1))).version())
                .isEqualTo(1);
        faulty.reset();
        assertThat(committer.commit(append("b", summary(2, "train", 1))).version())
                .isEqualTo(2);
        assertThat(memory.list(DatasetLayout.TABLES).toList()).hasSize(1);
    }
}
