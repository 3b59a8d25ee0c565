package dev.stoker.metadata.chunks;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectRangeReader;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class OpenChunksTest {

    private static final int CHUNK_BYTES = 8192;
    private static final List<Field> FIELDS = List.of(
            new Field("label", ScalarType.CATEGORICAL, true, false), new Field("text", ScalarType.UTF8, false, false));

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private final List<UUID> named = Collections.synchronizedList(new ArrayList<>());

    /** What was packed: split and rows of each chunk, and the classes. */
    private record Packed(List<String> chunks, Map<String, ?> names, Map<String, Long> missing) {}

    @Test
    void chunksAreTheSameWhoeverWritesThem() throws Exception {
        Packed own = pack(new OpenChunks(FIELDS, CHUNK_BYTES, output("own")));
        Packed others = pack(new OpenChunks(FIELDS, CHUNK_BYTES, output("others"), "test-write"));

        assertThat(own).isEqualTo(others);
        assertThat(own.chunks()).hasSizeGreaterThan(4);
        assertThat(own.names()).isEqualTo(Map.of("label", Set.of("cat", "dog")));
        assertThat(own.missing()).isEqualTo(Map.of("label", 100L));
        assertThat(named).hasSize(2 * own.chunks().size()).doesNotHaveDuplicates();
    }

    private ChunkOutput output(String run) {
        return new ChunkOutput(store, new UUID(1, 1), run, NOW, named::add);
    }

    private Packed pack(OpenChunks open) throws Exception {
        List<ChunkSummary> summaries = new ArrayList<>();
        UsedClasses used = new UsedClasses();
        for (int i = 0; i < 300; i++) {
            String text = "a text of a sample ".repeat(1 + i % 7);
            ChunkBuilder builder = open.forSample(i % 4 == 0 ? "test" : "train", text.length());
            builder.beginRow("key/" + i);
            if (i % 3 == 0) {
                builder.setNull(0);
            } else {
                builder.setClass(0, i % 3 == 1 ? "cat" : "dog");
            }
            builder.setString(1, text);
            builder.endRow();
            summaries.addAll(open.takeChunks());
            used.add(open.takeUsed());
        }
        open.flush();
        summaries.addAll(open.takeChunks());
        used.add(open.takeUsed());
        open.close();
        List<String> chunks = new ArrayList<>();
        for (ChunkSummary chunk : summaries) {
            ChunkHead head = ChunkReader.open(new ObjectRangeReader(store, ChunkNames.path(chunk.id())));
            assertThat(head.identity().created()).isEqualTo(NOW);
            chunks.add(chunk.split() + " " + chunk.rows() + " " + new TreeSet<>(named).contains(chunk.id()));
        }
        return new Packed(chunks, used.names(), used.missing());
    }
}
