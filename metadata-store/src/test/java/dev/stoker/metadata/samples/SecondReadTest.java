package dev.stoker.metadata.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bytes that are damaged on their way are read once more. */
class SecondReadTest {

    private final InMemoryObjectStore memory = new InMemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final String chunk = ChunkNames.path(SampleDatasets.id(1));
    private Dataset dataset;
    private Snapshot snapshot;

    @BeforeEach
    void create() throws IOException {
        dataset = Dataset.create(store, SampleDatasets.info());
        var written = SampleDatasets.write(store, SampleDatasets.id(1), "i", "train", "cat/1", "cat/2");
        SampleDatasets.committer(dataset)
                .commit(VersionRequest.append("i", List.of(written), Map.of("label", List.of("cat")), Map.of()));
        snapshot = dataset.snapshot();
        store.reset();
    }

    private static String image(StoredSample sample) {
        return StandardCharsets.UTF_8.decode(sample.payload(1).duplicate()).toString();
    }

    @Test
    void aFlippedBitInAnyReadOfAChunkIsRepaired() throws IOException {
        SampleIndex index = SampleIndex.open(dataset, snapshot);
        index.get("cat/2");
        int reads = (int) store.calls().stream()
                .filter(call ->
                        call.operation() == Operation.READ && call.name().equals(chunk))
                .count();
        assertThat(reads).isPositive();
        SampleIndex other = SampleIndex.open(dataset, snapshot);
        assertThat(other.stat("cat/2")).isPresent();

        store.once(call -> call.operation() == Operation.READ && call.name().equals(chunk), Fault.FLIPPED_BIT);
        assertThat(image(other.get("cat/2").orElseThrow())).isEqualTo("image of cat/2");
        store.once(call -> call.operation() == Operation.READ && call.name().equals(chunk), Fault.FLIPPED_BIT);
        assertThat(image(other.get("cat/2").orElseThrow())).isEqualTo("image of cat/2");
    }

    @Test
    void aHeadIsReadTwiceAtMost() throws IOException {
        HeadCache heads = new HeadCache(1 << 20);
        store.once(call -> call.operation() == Operation.READ && call.name().equals(chunk), Fault.FLIPPED_BIT);

        assertThat(heads.get(store, snapshot.table(), 0).key(0)).isEqualTo("cat/1");
        store.on(call -> call.operation() == Operation.READ && call.name().equals(chunk), Fault.FLIPPED_BIT);
        assertThat(heads.get(store, snapshot.table(), 0).key(0)).isEqualTo("cat/1");
        assertThatThrownBy(() -> new HeadCache(1 << 20).get(store, snapshot.table(), 0))
                .isInstanceOf(CorruptDataException.class);
    }

    @Test
    void aSampleThatStaysDamagedIsNamed() throws IOException {
        byte[] file = memory.readAll(chunk, 1 << 20);
        int payload = snapshot.table().headLength(0);
        file[payload] ^= 1;
        memory.corrupt(chunk, file);
        SampleIndex index = SampleIndex.open(dataset, snapshot);

        assertThatThrownBy(() -> index.get("cat/1"))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("CRC32C of image of sample 'cat/1' in row 0 of chunk 0");
        assertThat(index.get("cat/2")).isPresent();
    }
}
