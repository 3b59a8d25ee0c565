package dev.stoker.server.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.server.Waiting;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkCacheTest {
    private static final int LENGTH = 5000;

    @TempDir
    Path directory;

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private final Random random = new Random(3);

    private ListedChunk chunk() throws IOException {
        byte[] content = new byte[LENGTH];
        random.nextBytes(content);
        UUID id = new UUID(random.nextLong(), random.nextLong());
        store.createIfAbsent("chunks/" + id, content);
        return new ListedChunk(id, "chunks/" + id, LENGTH, Crc32cs.of(content));
    }

    private static void use(ChunkSource source, ListedChunk chunk) {
        try {
            source.hold(chunk).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void whatIsPutOffForReadersIsPlacedWhenItIsUsedAgain() throws IOException {
        TierOptions options = TierOptions.of(TierSpec.parse("disk:" + directory + ":1m"));
        OriginReads reads = new OriginReads();
        try (HeldChunks mappings = new HeldChunks(10);
                ChunkCache cache = new ChunkCache(options, mappings, reads)) {
            // Two chunks at once are more than half too much.
            cache.start(
                    UUID.randomUUID(), Set.of(), LENGTH + LENGTH / 5, new DirectBudget(Long.MAX_VALUE, Long.MAX_VALUE));
            ChunkSource source = cache.of(store);
            ListedChunk late = chunk();
            ChunkBytes first = source.hold(chunk());
            Waiting.until(() -> cache.status().get(0).loads() == 1);
            ChunkBytes second = source.hold(late);
            Waiting.until(() -> cache.status().get(0).usedBytes() == LENGTH);
            first.close();
            // Else the second would have to make room.
            Waiting.until(() -> cache.workingBytes() == LENGTH);
            second.close();
            Waiting.until(() -> {
                use(source, late);
                return cache.status().get(0).loads() == 2;
            });
            assertThat(reads.reads()).as("reads of the origin").isEqualTo(2);
        }
    }
}
