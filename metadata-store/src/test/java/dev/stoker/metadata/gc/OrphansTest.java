package dev.stoker.metadata.gc;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.NOW;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OrphansTest {

    private static final InstantSource LATER = InstantSource.fixed(NOW.plusSeconds(7200));

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);

    @Test
    void listsAndDeletesWhatNoVersionKnows() throws IOException {
        Dataset dataset = Dataset.create(store, info());
        ChunkSummary live = write(store, id(1), "a", "train", "cat/1");
        ChunkSummary replaced = write(store, id(2), "a", "train", "cat/2");
        write(store, id(3), "dead", "train", "cat/3");
        store.createIfAbsent("chunks/notes.txt", new byte[1]);
        ObjectWriter unfinished = store.write(ChunkNames.path(id(4)));
        unfinished.write(ByteBuffer.allocate(10));
        committer(dataset).commit(VersionRequest.append("a", List.of(replaced), Map.of(), Map.of()));
        committer(dataset).commit(VersionRequest.replace("b", List.of(live), Map.of(), Map.of()));

        List<Orphan> orphans = Orphans.find(dataset, LATER);

        assertThat(orphans).hasSize(2);
        assertThat(orphans)
                .filteredOn(orphan -> !orphan.unfinished())
                .singleElement()
                .satisfies(orphan -> {
                    assertThat(orphan.name()).isEqualTo(ChunkNames.path(id(3)));
                    assertThat(orphan.age()).isEqualTo(Duration.ofHours(2));
                    assertThat(orphan.length()).isPositive();
                });

        assertThat(Orphans.delete(dataset, orphans)).hasSize(2);
        assertThat(Orphans.find(dataset, LATER)).isEmpty();
        assertThat(store.list("chunks/").toList()).hasSize(3);
        unfinished.close();
    }

    @Test
    void whatWasCommittedMeanwhileIsNotDeleted() throws IOException {
        Dataset dataset = Dataset.create(store, info());
        ChunkSummary late = write(store, id(1), "a", "train", "cat/1");
        List<Orphan> orphans = Orphans.find(dataset, LATER);
        assertThat(orphans).hasSize(1);
        committer(dataset).commit(VersionRequest.append("a", List.of(late), Map.of(), Map.of()));

        assertThat(Orphans.delete(dataset, orphans)).isEmpty();
        assertThat(store.length(ChunkNames.path(id(1)))).isPositive();
    }

    /** A store may list an unfinished file under its final name. */
    @Test
    void anUnfinishedFileThatWasCommittedMeanwhileIsNotDeleted() throws IOException {
        Dataset dataset = Dataset.create(store, info());
        ChunkSummary late = write(store, id(1), "a", "train", "cat/1");
        Orphan found = new Orphan(ChunkNames.path(id(1)), late.length(), Duration.ofHours(2), true);
        committer(dataset).commit(VersionRequest.append("a", List.of(late), Map.of(), Map.of()));

        assertThat(Orphans.delete(dataset, List.of(found))).isEmpty();
        assertThat(store.length(ChunkNames.path(id(1)))).isEqualTo(late.length());
    }
}
