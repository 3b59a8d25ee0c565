package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KeyRemovalTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        committer(dataset)
                .commit(CommitRequest.append(
                        "a",
                        List.of(
                                write(store, id(1), "a", "train", "cat/1", "dog/1", "cat/2"),
                                write(store, id(2), "a", "val", "dog/2"),
                                write(store, id(3), "a", "train", "cat/3", "cat/4")),
                        Map.of("label", List.of("cat", "dog")),
                        Map.of()));
    }

    private Commit remove(String ingest, String... keys) throws IOException {
        return committer(dataset)
                .commit(CommitRequest.remove(ingest, new KeyRemoval(dataset, List.of(keys)), Map.of()));
    }

    @Test
    void removesSamplesByKey() throws IOException {
        Commit commit = remove("b", "cat/2", "dog/2", "dog/1");

        assertThat(commit.entry().removed()).containsExactly(RemovedRows.of(0, 1, 2), RemovedRows.of(1, 0));
        assertThat(dataset.snapshot().table().liveRows()).isEqualTo(3);
        assertThat(dataset.snapshot().splits()).containsExactly("train");
        assertThat(dataset.snapshot(1).table().liveRows()).isEqualTo(6);
        assertThat(dataset.snapshot().stream("train").removedRows(0)).containsExactly(1, 2);
    }

    @Test
    void anUnknownKeyIsNamed() {
        assertThatThrownBy(() -> remove("b", "cat/1", "cow/1", "cow/2"))
                .isInstanceOf(UnknownKeyException.class)
                .hasMessage("Version 1 of dataset photos has no sample 'cow/1', nor 1 other of the given keys");
    }

    @Test
    void aKeyIsRemovedOnce() throws IOException {
        remove("b", "cat/1");

        assertThatThrownBy(() -> remove("c", "cat/1")).isInstanceOf(UnknownKeyException.class);
        assertThat(dataset.latestVersion()).isEqualTo(2);
    }
}
