package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.testing.Rounds;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class RowSelectionTest {
    private static final String WHERE = "a = 1";

    /** Hidden rows must count as removed rows, and a chunk without others as a ghost. */
    @Test
    void hiddenRowsCountAsRemovedOnes(TestInfo test) {
        Rounds.of(test).seconds(1).atLeast(50).run((random, round) -> one(random));
    }

    private static void one(Random random) {
        int size = 1 + random.nextInt(12);
        StreamChunksBuilder all = StreamChunks.builder(size);
        StreamChunksBuilder less = StreamChunks.builder(size);
        int[] counts = new int[size];
        Map<Integer, byte[]> bitmaps = new HashMap<>();
        for (int i = 0; i < size; i++) {
            int rows = 1 + random.nextInt(40);
            if (random.nextInt(6) == 0) {
                all.addGhost(i, rows);
                less.addGhost(i, rows);
                continue;
            }
            int kept = random.nextInt(4);
            int[] removed = IntStream.range(1, rows)
                    .filter(row -> random.nextInt(8) == 0)
                    .toArray();
            boolean[] gone = new boolean[rows];
            byte[] bitmap = new byte[(rows + 7) / 8];
            for (int row : removed) {
                gone[row] = true;
            }
            for (int row = 0; row < rows; row++) {
                gone[row] |= kept < 3 && random.nextInt(3) >= kept;
                if (!gone[row]) {
                    bitmap[row / 8] |= (byte) (1 << row % 8);
                    counts[i]++;
                }
            }
            if (counts[i] > 0 && counts[i] < rows) {
                bitmaps.put(i, bitmap);
            }
            ExpectedChunk file = new ExpectedChunk(100 + random.nextInt(900), 0, 0, 0, 0);
            all.addLive(i, new UUID(1, i), rows, removed, file);
            if (counts[i] == 0) {
                less.addGhost(i, rows);
            } else {
                int[] hidden = IntStream.range(0, rows).filter(row -> gone[row]).toArray();
                less.addLive(i, new UUID(1, i), rows, hidden, file);
            }
        }
        OrderSpec spec = new OrderSpec(
                random.nextInt(9),
                1 + random.nextInt(7),
                1 + random.nextInt(4),
                random.nextInt(4000),
                random.nextInt(4) == 0 ? ShufflePolicy.NONE : ShufflePolicy.WINDOW,
                LaneOrder.MIXED);
        StreamChunks version = all.build();
        StreamChunks selected = version.select(new RowSelection(WHERE, counts, bitmaps));
        StreamOrder expected = new StreamOrder(less.build(), spec);
        StreamOrder found = new StreamOrder(selected, spec.withWhere(WHERE));

        assertThat(found.size()).isEqualTo(expected.size());
        assertThat(selected.liveRows()).isEqualTo(IntStream.of(counts).sum());
        for (int lane = 0; lane < expected.lanes(); lane++) {
            LaneEpoch one = expected.epoch(1).lane(lane);
            LaneEpoch other = found.epoch(1).lane(lane);
            assertThat(other.windows()).isEqualTo(one.windows());
            for (int w = 0; w < one.windows(); w++) {
                assertThat(text(other.window(w))).isEqualTo(text(one.window(w)));
            }
        }
        assertThat(Fingerprint.chunksDigest(selected)).isEqualTo(Fingerprint.chunksDigest(version));
    }

    private static String text(Window window) {
        StringBuilder rows = new StringBuilder();
        for (int i = 0; i < window.rows(); i++) {
            rows.append(window.chunkAt(i)).append('/').append(window.rowAt(i)).append(' ');
        }
        return rows.toString();
    }

    @Test
    void anOrderRefusesRowsThatItsConditionDidNotSelect() {
        StreamChunks chunks = StreamChunks.builder(1)
                .addLive(0, new UUID(1, 2), 3, new ExpectedChunk(100, 0, 0, 0, 0))
                .build();
        RowSelection some = new RowSelection(WHERE, new int[] {1}, Map.of(0, new byte[] {2}));
        OrderSpec spec = OrderSpec.defaults();
        assertThat(new StreamOrder(chunks.select(some), spec.withWhere("1=a"))
                        .size()
                        .samples())
                .isEqualTo(1);
        for (OrderSpec other : new OrderSpec[] {spec, spec.withWhere("a = 2")}) {
            assertThatThrownBy(() -> new StreamOrder(chunks.select(some), other))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new StreamOrder(chunks, spec.withWhere(WHERE)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> chunks.select(some).select(some)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void functionTwoHasTheConditionInItsText() {
        OrderSpec spec = OrderSpec.defaults().withWhere("b = 'x\"\n' or 1<a");
        assertThat(spec.function()).isEqualTo(2);
        assertThat(spec.toJson()).endsWith(",\"lane_order\":\"mixed\",\"where\":\"b = 'x\\\"\\n' OR a > 1\"}");
        assertThat(OrderSpec.fromJson(spec.toJson())).isEqualTo(spec);
        assertThat(OrderOverlay.fromJson("{\"where\":\"a > 1\"}")
                        .over(OrderSpec.defaults())
                        .where())
                .isEqualTo("a > 1");
        assertThat(OrderOverlay.fromJson("{\"where\":\"a > 2\"}").differences(OrderSpec.defaults()))
                .extracting(Object::toString)
                .containsExactly("where is not set here, asked for a > 2");
        assertThat(OrderOverlay.of(OrderSpec.defaults()).differences(spec.withWhere("a > 1")))
                .extracting(Object::toString)
                .containsExactly("where is a > 1 here, asked for not set");
        assertThatThrownBy(() -> OrderSpec.fromJson(spec.toJson().replace("\"function\":2", "\"function\":1")))
                .hasMessageContaining("function is 1, but where is a key of function 2");
        assertThatThrownBy(() ->
                        OrderSpec.fromJson(OrderSpec.defaults().toJson().replace("\"function\":1", "\"function\":2")))
                .hasMessageContaining("function is 2, but its keys need function 1");
        assertThatThrownBy(() -> OrderOverlay.fromJson("{\"where\":\"a >\"}")).hasMessageContaining("where: expected");
        assertThatThrownBy(() -> OrderOverlay.fromJson("{\"pack\":{}}")).hasMessageContaining("pack is reserved");
    }
}
