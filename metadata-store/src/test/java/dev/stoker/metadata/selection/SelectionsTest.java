package dev.stoker.metadata.selection;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SelectionsTest {
    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, info());
        committer(dataset)
                .commit(VersionRequest.append(
                        "a",
                        List.of(
                                write(store, id(1), "a", "train", "cat/1", "dog/1", "cat/2"),
                                write(store, id(2), "a", "val", "dog/2"),
                                write(store, id(3), "a", "train", "cat/3", "cat/4"),
                                write(store, id(4), "a", "train", "dog/5", "dog/6")),
                        Map.of("label", List.of("cat", "dog")),
                        Map.of()));
    }

    private StreamChunks select(String where) throws IOException {
        return Selections.stream(store, dataset.snapshot(), "train", where);
    }

    private static List<String> rows(StreamChunks chunks) {
        List<String> rows = new ArrayList<>();
        for (int i = 0; i < chunks.size(); i++) {
            rows.add(chunks.isLive(i) ? Arrays.toString(chunks.rowsOf(i)) : "ghost");
        }
        return rows;
    }

    private List<ObjectInfo> kept() throws IOException {
        return store.list(DatasetLayout.FILTERS).toList();
    }

    @Test
    void selectsTheRowsOfTheSplitThatSatisfyTheCondition() throws IOException {
        StreamChunks chunks = select("key < 'dog'");

        assertThat(rows(chunks)).containsExactly("[0, 2]", "[0, 1]", "ghost");
        assertThat(chunks.liveRows()).isEqualTo(4);
        assertThat(chunks.liveChunks()).isEqualTo(2);
        assertThat(chunks.where()).isEqualTo("key < 'dog'");
        assertThat(chunks.isOfVersion(2)).isTrue();
    }

    @Test
    void removedRowsAreNotSelected() throws IOException {
        committer(dataset)
                .commit(VersionRequest.remove("b", SampleRemoval.ofKeys(dataset, List.of("cat/2", "dog/5")), Map.of()));

        assertThat(rows(select("key < 'dog'"))).containsExactly("[0]", "[0, 1]", "ghost");
        assertThat(rows(select("key > 'dog'"))).containsExactly("[1]", "ghost", "[1]");
        assertThat(rows(select("key <> ''"))).containsExactly("[0, 1]", "[0, 1]", "[1]");
    }

    @Test
    void aSelectionIsKeptAndUsedAgain() throws IOException {
        List<String> found = rows(select("key < 'dog'"));
        assertThat(kept()).hasSize(1);
        // Without the chunks, only the kept selection can answer.
        for (int number : new int[] {1, 3, 4}) {
            store.delete(ChunkNames.path(id(number)));
        }

        assertThat(rows(select("key < 'dog'"))).isEqualTo(found);
        assertThatThrownBy(() -> select("key < 'eel'")).isInstanceOf(IOException.class);
    }

    @Test
    void aDamagedSelectionIsMadeAgain() throws IOException {
        List<String> found = rows(select("key < 'dog'"));
        String name = kept().get(0).name();
        byte[] whole = store.readAll(name, 1 << 20);
        for (int i = 0; i < whole.length; i++) {
            byte[] damaged = whole.clone();
            damaged[i] ^= 1;
            store.replace(name, damaged);
            assertThat(rows(select("key < 'dog'"))).isEqualTo(found);
            assertThat(store.readAll(name, 1 << 20)).isEqualTo(whole);
        }
        for (byte[] damaged : List.of(new byte[0], Arrays.copyOf(whole, 20), Arrays.copyOf(whole, whole.length + 1))) {
            store.replace(name, damaged);
            assertThat(rows(select("key < 'dog'"))).isEqualTo(found);
        }
    }

    @Test
    void aConditionThatSelectsNothingSaysWhatItsPartsSelect() {
        assertThatThrownBy(() -> select("key < 'dog' AND key > 'dog'"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("where \"key < 'dog' AND key > 'dog'\" selects none of the 7 rows of version 1 of photos,"
                        + " split train: key < 'dog' selects 4, key > 'dog' selects 3");
    }

    @Test
    void whatTheHeadsDoNotHaveIsRefused() {
        assertThatThrownBy(() -> select("width > 3"))
                .hasMessage("where \"width > 3\" of version 1 of photos: there is no column width; the columns are"
                        + " key, label, image");
        assertThatThrownBy(() -> select("image = 'x'")).hasMessageContaining("column image of type binary is payload");
    }
}
