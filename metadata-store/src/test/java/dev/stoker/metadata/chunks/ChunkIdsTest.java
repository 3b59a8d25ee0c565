package dev.stoker.metadata.chunks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.chunk.ChunkNames;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ChunkIdsTest {
    private static String directory(UUID id) {
        return Path.of(ChunkNames.path(id)).getParent().toString();
    }

    @Test
    void chunksInSuccessionShareDirectoriesThatAreSpread() {
        ChunkIds ids = new ChunkIds();
        Set<UUID> all = new HashSet<>();
        Set<String> directories = new HashSet<>();
        for (int group = 0; group < 2000; group++) {
            List<UUID> some = new ArrayList<>();
            for (int i = 0; i < ChunkIds.CHUNKS_PER_DIRECTORY; i++) {
                some.add(ids.next(1_700_000_000_000L + group));
            }
            assertThat(some.stream().map(ChunkIdsTest::directory).distinct()).hasSize(1);
            assertThat(some).allMatch(id -> id.version() == 7 && id.variant() == 2);
            directories.add(directory(some.get(0)));
            all.addAll(some);
        }
        assertThat(all).hasSize(2000 * ChunkIds.CHUNKS_PER_DIRECTORY);
        assertThat(directories).hasSizeGreaterThan(250);
    }
}
