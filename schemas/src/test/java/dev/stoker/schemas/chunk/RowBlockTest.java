package dev.stoker.schemas.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.arrow.FixedValues;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TimeResolution;
import dev.stoker.schemas.arrow.types.TimestampType;
import dev.stoker.schemas.testing.Rounds;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class RowBlockTest {
    private static final List<Field> FIELDS = List.of(
            Field.small("a", ScalarType.INT32),
            Field.nullable("b", ScalarType.INT16),
            Field.nullable("c", ScalarType.FLOAT64),
            Field.nullable("t", TimestampType.local(TimeResolution.MICROSECONDS)),
            Field.nullable("text", ScalarType.UTF8),
            Field.nullable("flag", ScalarType.BOOL));

    private static final int LIMIT = 20_000;

    /** Rows that {@code roomFor} and single rows fill up to a limit, as a packing task does. */
    @Test
    void rowsOfBlocksMakeTheChunksThatSingleRowsMake(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(20).run((random, round) -> compareBlocksAndRows(random));
    }

    private static void compareBlocksAndRows(Random random) {
        int rows = 1 + random.nextInt(3000);
        int[] nullEach = {0, random.nextInt(50), random.nextInt(5000), 1 + random.nextInt(3)};
        RowBlock block = block(rows, nullEach, random);
        List<ByteBuffer> byRow = new ArrayList<>();
        ChunkBuilder builder = new ChunkBuilder(FIELDS, LIMIT);
        for (int row = 0; row < rows; row++) {
            if (builder.rows() > 0 && builder.length() > LIMIT) {
                finish(builder, byRow);
            }
            addRow(builder, block, row);
        }
        finish(builder, byRow);
        List<ByteBuffer> byBlock = new ArrayList<>();
        for (int from = 0; from < rows; ) {
            if (builder.rows() > 0 && builder.length() > LIMIT) {
                finish(builder, byBlock);
            }
            int most = 1 + random.nextInt(rows - from);
            int room = builder.roomFor(block, from, most, LIMIT);
            assertThat(room).isBetween(0, most);
            builder.addRows(block, from, Math.max(1, room));
            assertThat(room == 0 || builder.length() <= LIMIT).isTrue();
            from += Math.max(1, room);
        }
        finish(builder, byBlock);
        assertThat(byBlock).isEqualTo(byRow);
    }

    @Test
    void aNullInAFieldThatIsNotNullableAddsNothing() {
        RowBlock block = block(20, new int[] {0, 0, 0, 0}, new Random(1));
        ChunkBuilder builder = new ChunkBuilder(FIELDS, LIMIT);
        builder.addRows(block, 0, 10);
        ByteBuffer before = ChunkFixtures.bytes(builder.finish(ChunkFixtures.identity(1)));
        FixedValues[] values = block.values().clone();
        values[0] = new FixedValues(values[0].bytes(), values[0].offset(), new byte[] {-1, -1, 7});
        RowBlock withNull = new RowBlock(block.keys(), block.keyEnds(), values);
        assertThatThrownBy(() -> builder.addRows(withNull, 10, 10))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("column a is not nullable");
        assertThat(ChunkFixtures.bytes(builder.finish(ChunkFixtures.identity(1))))
                .isEqualTo(before);
    }

    @Test
    void typesWithInvalidBitPatternsAreRefused() {
        ChunkBuilder builder = new ChunkBuilder(List.of(Field.small("c", ScalarType.CATEGORICAL)), LIMIT);
        RowBlock block = new RowBlock(
                new byte[] {'k'}, new int[] {1}, new FixedValues[] {new FixedValues(new byte[4], 0, null)});
        assertThatThrownBy(() -> builder.addRows(block, 0, 1)).isInstanceOf(IllegalArgumentException.class);
        assertThat(builder.rows()).isZero();
    }

    private static void finish(ChunkBuilder builder, List<ByteBuffer> chunks) {
        PackedChunk chunk = builder.finish(ChunkFixtures.identity(1));
        ByteBuffer bytes = ByteBuffer.allocate(8 + (int) chunk.summary().length());
        chunks.add(bytes.putLong(chunk.summary().largestRow())
                .put(ChunkFixtures.bytes(chunk))
                .flip());
        builder.reset();
    }

    /** @param nullEach for each field, the distance of its nulls; 0 for none */
    private static RowBlock block(int rows, int[] nullEach, Random random) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        int[] ends = new int[rows];
        for (int row = 0; row < rows; row++) {
            keys.writeBytes(("k" + "ü".repeat(random.nextInt(6)) + row).getBytes(StandardCharsets.UTF_8));
            ends[row] = keys.size();
        }
        int[] widths = {4, 2, 8, 8};
        FixedValues[] values = new FixedValues[FIELDS.size()];
        for (int f = 0; f < widths.length; f++) {
            int offset = random.nextInt(20);
            byte[] bytes = new byte[offset + rows * widths[f]];
            random.nextBytes(bytes);
            byte[] validity = new byte[(rows + 7) / 8];
            for (int row = 0; row < rows; row++) {
                if (nullEach[f] == 0 || (row + 1) % nullEach[f] != 0) {
                    validity[row / 8] |= (byte) (1 << row % 8);
                } else {
                    ByteBuffer.wrap(bytes).put(offset + row * widths[f], new byte[widths[f]]);
                }
            }
            values[f] = new FixedValues(bytes, offset, nullEach[f] == 0 && random.nextBoolean() ? null : validity);
        }
        return new RowBlock(keys.toByteArray(), ends, values);
    }

    private static void addRow(ChunkBuilder builder, RowBlock block, int row) {
        int start = row == 0 ? 0 : block.keyEnds()[row - 1];
        builder.beginRow(new String(block.keys(), start, block.keyEnds()[row] - start, StandardCharsets.UTF_8));
        for (int f = 0; f < 4; f++) {
            FixedValues values = block.values()[f];
            ByteBuffer bytes = ByteBuffer.wrap(values.bytes()).order(ByteOrder.LITTLE_ENDIAN);
            if (values.hasNull(row, 1)) {
                builder.setNull(f);
            } else {
                switch (f) {
                    case 0 -> builder.setLong(f, bytes.getInt(values.offset() + 4 * row));
                    case 1 -> builder.setLong(f, bytes.getShort(values.offset() + 2 * row));
                    case 2 -> builder.setDouble(f, bytes.getDouble(values.offset() + 8 * row));
                    default -> builder.setLong(f, bytes.getLong(values.offset() + 8 * row));
                }
            }
        }
        builder.endRow();
    }
}
