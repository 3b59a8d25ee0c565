package dev.stoker.metadata.update;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.NOW;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Two garbage collections at the same time: one finds files that the other one has deleted. */
class TwoCollectionsTest extends UpdateFixture {

    private static final InstantSource LATER = InstantSource.fixed(NOW.plusSeconds(30 * 24 * 3600));

    private InMemoryObjectStore left() throws IOException {
        InMemoryObjectStore copy = new InMemoryObjectStore(CLOCK);
        for (ObjectInfo object : store.list("").toList()) {
            copy.createIfAbsent(object.name(), store.readAll(object.name(), 1 << 20));
        }
        return copy;
    }

    private static GarbageCollection collection(Dataset dataset) throws IOException {
        return GarbageCollection.plan(dataset, Duration.ZERO, LATER);
    }

    @Test
    void aCollectionThatRunsBesideAnotherEndsWithoutAnError() throws Exception {
        commit("u1", "dog/1", "wolf");
        commit("u2", "dog/1", "fox", "cat/4", "lynx");
        String overlay = overlays().get(0);
        // A chunk and an overlay that no version has, and an overlay that only an expired version has.
        write(store, id(9), "dead", "train", "cat/9");
        store.createIfAbsent(ChunkNames.overlayPath(id(99)), store.readAll(overlay, 1 << 20));
        Expiry.ofVersions(dataset, Set.of(1L, 2L), CLOCK).commit("expire-1", "ada@host");

        long calls = Long.MAX_VALUE;
        for (int at = 0; at < calls; at++) {
            InMemoryObjectStore shared = left();
            FaultyObjectStore beside = new FaultyObjectStore(shared);
            int moment = at;
            beside.on(
                    call -> {
                        if (call.number() == moment) {
                            try {
                                collection(Dataset.open(shared)).apply();
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        }
                        return false;
                    },
                    Fault.FAIL_BEFORE);
            collection(Dataset.open(beside)).apply();
            calls = beside.calls().size();
            assertThat(collection(Dataset.open(shared)).apply()).isEmpty();
            assertThat(shared.list("chunks/").toList()).hasSize(3);
            assertThat(shared.list(ChunkNames.OVERLAYS).toList()).hasSize(2);
        }
        assertThat(calls).isGreaterThan(20);
    }
}
