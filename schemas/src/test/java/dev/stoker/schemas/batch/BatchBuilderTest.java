package dev.stoker.schemas.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.testing.Rounds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BatchBuilderTest {
    /** Of chunks whose content does not matter. */
    private static final long SEED = 3;

    private static final List<String> CLASSES =
            List.of("class \"e\"", "class \"d\"", "none has it", "class \"a\"", "class \"b\"", "class \"c\"");

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 7, 8, 9, 64, 200})
    void holdsTheValuesOfItsRows(int rows, TestInfo test) {
        Rounds.of(test).seconds(0.1).atLeast(1).run((random, round) -> holdsTheValuesOfItsRows(rows, random));
    }

    private static void holdsTheValuesOfItsRows(int rows, Random random) throws IOException {
        for (List<Field> fields : List.of(ChunkFixtures.ALL_TYPES, ChunkFixtures.IMAGES, List.<Field>of())) {
            Chunks chunks = new Chunks(fields, 3, 20, random);
            int[] chunkOf = random.ints(rows, 0, 3).toArray();
            int[] rowOf = random.ints(rows, 0, 20).toArray();
            BatchMessage message = chunks.builder.build(chunks.open, chunkOf, rowOf, 0, rows, BatchFixtures::scratch);
            byte[] bytes = BatchFixtures.bytes(message);
            assertThat(message.rows()).isEqualTo(rows);
            assertThat(message.crc32c()).isEqualTo(Crc32cs.of(bytes));
            assertThat(bytes.length % 64).isZero();
            assertThat((long) bytes.length).isLessThanOrEqualTo(chunks.builder.largestMessage(rows, chunks.largestRow));
            chunks.compare(bytes, chunkOf, rowOf);
        }
    }

    @Test
    void makesTheSameBytesAgain() throws IOException {
        Chunks chunks = new Chunks(ChunkFixtures.ALL_TYPES, 2, 20, new Random(SEED));
        int[] chunkOf = {0, 1, 1, 0, 0, 0};
        int[] rowOf = {3, 19, 18, 4, 5, 5};
        byte[] first =
                BatchFixtures.bytes(chunks.builder.build(chunks.open, chunkOf, rowOf, 0, 6, BatchFixtures::scratch));
        chunks.builder.build(chunks.open, rowOf, chunkOf, 1, 1, BatchFixtures::scratch);
        byte[] again = BatchFixtures.bytes(new BatchBuilder(ChunkFixtures.ALL_TYPES)
                .build(chunks.open, chunkOf, rowOf, 0, 6, ByteBuffer::allocate));
        assertThat(again).isEqualTo(first);
    }

    @Test
    void takesARangeOfTheRows() throws IOException {
        Chunks chunks = new Chunks(ChunkFixtures.IMAGES, 2, 20, new Random(SEED));
        int[] chunkOf = {0, 1, 1, 0, 0};
        int[] rowOf = {3, 19, 18, 4, 5};
        byte[] part =
                BatchFixtures.bytes(chunks.builder.build(chunks.open, chunkOf, rowOf, 1, 4, BatchFixtures::scratch));
        byte[] whole = BatchFixtures.bytes(chunks.builder.build(
                chunks.open, new int[] {1, 1, 0}, new int[] {19, 18, 4}, 0, 3, BatchFixtures::scratch));
        assertThat(part).isEqualTo(whole);
    }

    @Test
    void mergesSlicesOfNeighbours() throws IOException {
        Chunks chunks = new Chunks(List.of(Field.payload("a", ScalarType.BINARY)), 1, 20, new Random(SEED));
        int[] zeros = new int[20];
        int[] rows = new int[20];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i;
        }
        BatchMessage message = chunks.builder.build(chunks.open, zeros, rows, 0, 20, BatchFixtures::scratch);
        assertThat(message.parts().length).isBetween(2, 3);
    }

    @Test
    void readsChunksOfWhichOnlyAPartIsInMemory() throws IOException {
        Chunks chunks = new Chunks(ChunkFixtures.IMAGES, 1, 20, new Random(SEED));
        BatchChunk whole = chunks.open[0];
        int at = whole.head().length();
        ByteBuffer payload = whole.bytes().slice(at, whole.bytes().limit() - at);
        BatchChunk part = chunks.builder.chunk(whole.head(), payload, at, whole.classIds());
        int[] zeros = new int[3];
        int[] rows = {4, 2, 19};
        assertThat(BatchFixtures.bytes(
                        chunks.builder.build(new BatchChunk[] {part}, zeros, rows, 0, 3, BatchFixtures::scratch)))
                .isEqualTo(BatchFixtures.bytes(
                        chunks.builder.build(chunks.open, zeros, rows, 0, 3, BatchFixtures::scratch)));
    }

    @Test
    void refusesChunksOfOtherFields() throws IOException {
        Chunks images = new Chunks(ChunkFixtures.IMAGES, 1, 2, new Random(SEED));
        BatchBuilder other = new BatchBuilder(List.of(Field.payload("image", ScalarType.BINARY)));
        assertThatThrownBy(() -> other.chunk(images.open[0].head(), images.open[0].bytes(), 0, new int[1][]))
                .isInstanceOf(ForeignFileException.class)
                .hasMessageContaining("image");
    }

    @Test
    void refusesClassIdsThatAreTooFew() throws IOException {
        Chunks images = new Chunks(ChunkFixtures.IMAGES, 1, 20, new Random(SEED));
        BatchChunk open = images.open[0];
        assertThatThrownBy(() -> images.builder.chunk(open.head(), open.bytes(), 0, new int[][] {{0}}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("label");
        assertThatThrownBy(() -> BatchChunk.idsOf(List.of("a", "b"), Map.of("a", 0)))
                .hasMessageContaining("'b'");
    }

    @Test
    void refusesAScratchBufferThatIsTooSmall() throws IOException {
        Chunks images = new Chunks(ChunkFixtures.IMAGES, 1, 2, new Random(SEED));
        assertThatThrownBy(() -> images.builder.build(
                        images.open, new int[1], new int[1], 0, 1, size -> ByteBuffer.allocate(size - 1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** Random chunks, open for batches, and what arrow-vector reads from them. */
    private static final class Chunks {
        final BatchBuilder builder;
        final BatchChunk[] open;
        final PackedChunk[] packed;
        final List<Field> fields;
        long largestRow;

        Chunks(List<Field> fields, int count, int rows, Random random) throws IOException {
            this.fields = fields;
            builder = new BatchBuilder(fields);
            open = new BatchChunk[count];
            packed = new PackedChunk[count];
            for (int n = 0; n < count; n++) {
                packed[n] = ChunkFixtures.random(fields, rows, n, random).finish(ChunkFixtures.identity(n));
                open[n] = BatchFixtures.open(builder, packed[n], CLASSES);
                largestRow = Math.max(largestRow, packed[n].summary().largestRow());
            }
        }

        void compare(byte[] message, int[] chunkOf, int[] rowOf) {
            try (BufferAllocator allocator = new RootAllocator()) {
                VectorSchemaRoot[] roots = new VectorSchemaRoot[packed.length];
                for (int n = 0; n < roots.length; n++) {
                    roots[n] =
                            ArrowJudge.readFile(ChunkFixtures.bytes(packed[n]).array(), allocator);
                }
                try (VectorSchemaRoot batch = ArrowJudge.readMessage(message, roots[0].getSchema(), allocator)) {
                    assertThat(batch.getRowCount()).isEqualTo(rowOf.length);
                    for (int i = 0; i < rowOf.length; i++) {
                        compareRow(batch, i, roots[chunkOf[i]], rowOf[i], chunkOf[i]);
                    }
                } finally {
                    for (VectorSchemaRoot root : roots) {
                        root.close();
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void compareRow(VectorSchemaRoot batch, int i, VectorSchemaRoot chunk, int row, int n) {
            assertThat(batch.getVector("key").getObject(i))
                    .isEqualTo(chunk.getVector("key").getObject(row));
            for (int f = 0; f < fields.size(); f++) {
                Field field = fields.get(f);
                Object expected = chunk.getVector(field.name()).getObject(row);
                if (expected != null && field.type() == ScalarType.CATEGORICAL) {
                    expected = CLASSES.indexOf(open[n].head().classes(f).get((Integer) expected));
                }
                Object found = batch.getVector(field.name()).getObject(i);
                if (found instanceof List<?> items && items.stream().anyMatch(byte[].class::isInstance)) {
                    found = items.toArray();
                    expected = ((List<?>) expected).toArray();
                }
                assertThat(found)
                        .as("seed %s, field %s, row %s", SEED, field, i)
                        .usingComparator((a, b) -> Objects.deepEquals(a, b) ? 0 : 1)
                        .isEqualTo(expected);
            }
        }
    }
}
