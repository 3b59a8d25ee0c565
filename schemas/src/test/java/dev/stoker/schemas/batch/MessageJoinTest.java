package dev.stoker.schemas.batch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.BatchColumns;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkFixtures;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.testing.Rounds;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class MessageJoinTest {
    private static final List<Field> FIELDS = ChunkFixtures.ALL_TYPES;
    private static final List<String> CLASSES =
            Stream.of("a", "b", "c", "d", "e").map(c -> "class \"" + c + "\"").toList();

    private final BatchBuilder builder = new BatchBuilder(FIELDS);

    private byte[] message(BatchChunk chunk, int from, int to) {
        int[] rows = IntStream.range(from, to).toArray();
        return BatchFixtures.bytes(builder.build(
                new BatchChunk[] {chunk}, new int[rows.length], rows, 0, rows.length, BatchFixtures::scratch));
    }

    /** Also of payload that is null in some rows, or in none of a part. */
    @SuppressWarnings("ByteBufferBackingArray") // dirty() allocates whole arrays.
    @Test
    void partsMakeTheMessageOfTheWhole(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(10).run((random, round) -> {
            PackedChunk packed = ChunkFixtures.random(FIELDS, 40, 1, random).finish(ChunkFixtures.identity(1));
            BatchChunk chunk = BatchFixtures.open(builder, packed, CLASSES);
            for (int i = 0; i < 5; i++) {
                int first = random.nextInt(40);
                int last = first + random.nextInt(41 - first);
                List<MessageJoin.Cut> cuts = new ArrayList<>();
                for (int from = first; from < last; ) {
                    int to = from + 1 + random.nextInt(last - from);
                    // A part has more rows than are taken from it.
                    int before = random.nextInt(from + 1);
                    int after = to + random.nextInt(41 - to);
                    ByteBuffer part = ByteBuffer.wrap(message(chunk, before, after));
                    List<ArrowColumn> columns = BatchColumns.read(part, FIELDS, "part");
                    cuts.add(new MessageJoin.Cut(columns, from - before, to - before));
                    from = to;
                }
                ByteBuffer joined = new MessageJoin(FIELDS).join(cuts, MessageJoinTest::dirty);
                assertThat(joined.array()).isEqualTo(message(chunk, first, last));
            }
        });
    }

    private static ByteBuffer dirty(int length) {
        ByteBuffer memory = ByteBuffer.allocate(length);
        while (memory.hasRemaining()) {
            memory.put((byte) 0x55);
        }
        return memory.clear();
    }
}
