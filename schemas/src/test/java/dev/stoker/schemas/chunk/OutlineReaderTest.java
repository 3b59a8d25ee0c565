package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.io.BufferRangeReader;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OutlineReaderTest {
    private static final long SEED = 11;
    private static final List<Field> FIELDS = List.of(
            Field.small("label", ScalarType.CATEGORICAL),
            Field.nullable("tags", FieldType.parse("utf8[]")),
            Field.payload("image", ScalarType.BINARY),
            Field.payload("text", ScalarType.UTF8));

    private final OutlineReader outlines = new OutlineReader();

    /** Counts reads. */
    private static final class Counted implements RangeReader {
        private final BufferRangeReader file;
        private final List<Integer> reads = new ArrayList<>();

        Counted(byte... bytes) {
            file = new BufferRangeReader("the chunk", ByteBuffer.wrap(bytes));
        }

        @Override
        public void readFully(long offset, ByteBuffer target) throws IOException {
            reads.add(target.remaining());
            file.readFully(offset, target);
        }

        @Override
        public long length() {
            return file.length();
        }

        @Override
        public String name() {
            return file.name();
        }
    }

    private static byte[] chunk(List<Field> fields, int rows, int seed) {
        return ChunkFixtures.bytes(ChunkFixtures.random(fields, rows, 0, new Random(SEED + seed))
                        .finish(ChunkFixtures.identity(seed)))
                .array();
    }

    @Test
    void computesWhatTheLogHoldsWithTwoReads() throws IOException {
        for (int rows = 1; rows < 60; rows += 7) {
            byte[] bytes = chunk(FIELDS, rows, rows);
            Counted file = new Counted(bytes);

            ChunkOutline outline = outlines.read(file);

            assertThat(outline.summary())
                    .isEqualTo(ChunkReader.verify(new BufferRangeReader("the chunk", ByteBuffer.wrap(bytes))));
            assertThat(file.reads).hasSize(2);
            assertThat(outline.headBytes().remaining())
                    .isEqualTo((int) outline.summary().headLength());
            assertThat(outline.head().key(rows - 1)).isNotEmpty();
        }
    }

    @Test
    void readsALongerEndOnceMore() throws IOException {
        List<Field> many = new ArrayList<>(FIELDS);
        IntStream.range(0, 100).forEach(i -> many.add(0, Field.small("number-" + i, ScalarType.INT32)));
        byte[] bytes = chunk(many, 3, 1);

        for (int expected : new int[] {3, 2, 2}) {
            Counted file = new Counted(bytes);
            assertThat(outlines.read(file).summary())
                    .isEqualTo(ChunkReader.verify(new BufferRangeReader("the chunk", ByteBuffer.wrap(bytes))));
            assertThat(file.reads).hasSize(expected);
        }
    }

    @Test
    void noticesAFlippedBitInEachByteOfTheHeadAndTheEnd() throws IOException {
        byte[] good = chunk(FIELDS, 3, 2);
        ChunkOutline outline = outlines.read(new Counted(good));
        long head = outline.summary().headLength();
        for (int at = 0; at < good.length; at++) {
            byte[] bad = good.clone();
            bad[at] ^= (byte) (1 << at % 8);
            boolean isRead = at < head || at >= good.length - outline.tailLength();
            if (isNoticed(bad) != isRead) {
                throw new AssertionError("byte " + at);
            }
        }
    }

    private boolean isNoticed(byte... chunk) throws IOException {
        try {
            outlines.read(new Counted(chunk));
            return false;
        } catch (StokerException e) {
            return true;
        }
    }

    @Test
    void noticesEveryTruncation() {
        byte[] good = chunk(FIELDS, 3, 3);
        for (int length = 0; length < good.length; length++) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThatThrownBy(() -> outlines.read(new Counted(cut)))
                    .as("cut to " + length)
                    .isInstanceOf(StokerException.class);
        }
    }
}
