package dev.stoker.server.chunks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class CountedStoreTest {
    private final OriginReads reads = new OriginReads();
    private final ObjectStore store = reads.counting(new InMemoryObjectStore());

    @Test
    void countsWhatIsAskedBesideChunks() throws IOException {
        store.createIfAbsent("_stoker/log/1.avro", new byte[10]);
        store.length("_stoker/log/1.avro");
        store.readAll("_stoker/log/1.avro", 10);
        store.read("_stoker/log/1.avro", 0, ByteBuffer.allocate(10));
        try (ObjectIterator listed = store.list("_stoker/")) {
            assertThat(listed.hasNext()).isTrue();
        }
        assertThat(store.delete("_stoker/log/1.avro")).isTrue();
        assertThat(reads.metadata()).isEqualTo(6);
        assertThat(reads.reads()).isZero();
    }

    @Test
    void doesNotCountReadsOfChunks() throws IOException {
        store.createIfAbsent("chunks/3f/some.arrow", new byte[10]);
        long before = reads.metadata();
        store.read("chunks/3f/some.arrow", 0, ByteBuffer.allocate(10));
        assertThat(reads.metadata()).isEqualTo(before);
        store.length("chunks/3f/some.arrow");
        assertThat(reads.metadata()).as("the length of a chunk is metadata").isEqualTo(before + 1);
    }
}
