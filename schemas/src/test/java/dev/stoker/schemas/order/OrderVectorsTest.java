package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class OrderVectorsTest {
    @Test
    void mixesAsTheVectorsSay() throws Exception {
        for (JsonNode pair : Vectors.read("order.json").get("mix")) {
            assertThat(OrderHash.mix(hex(pair.get(0)))).isEqualTo(hex(pair.get(1)));
        }
    }

    @Test
    void foldsKeysAsTheVectorsSay() throws Exception {
        for (JsonNode pair : Vectors.read("order.json").get("key")) {
            long[] parts = new long[pair.get(0).size()];
            for (int i = 0; i < parts.length; i++) {
                parts[i] = hex(pair.get(0).get(i));
            }
            assertThat(OrderHash.key(parts)).isEqualTo(hex(pair.get(1)));
        }
    }

    @TestFactory
    Stream<DynamicTest> ordersAsTheVectorsSay() throws Exception {
        JsonNode cases = Vectors.read("order.json").get("cases");
        assertThat(cases.size()).isGreaterThan(15);
        return StreamSupport.stream(cases.spliterator(), false)
                .map(c -> DynamicTest.dynamicTest(c.get("name").textValue(), () -> check(c)));
    }

    private static void check(JsonNode c) throws Exception {
        OrderSpec spec = OrderSpec.fromJson(c.get("order"));
        StreamChunks chunks = Vectors.chunks(c.get("chunks"));
        StreamOrder order = new StreamOrder(chunks, spec);
        assertThat(order.lanes()).isEqualTo(c.get("lanes").intValue());
        for (int i = 0; i < chunks.size(); i++) {
            assertThat(order.laneOf(i))
                    .as("lane of chunk %d", i)
                    .isEqualTo(c.get("lane_of").get(i).intValue());
        }
        assertThat(order.laneRows()).isEqualTo(Vectors.longs(c.get("lane_rows")));
        assertThat(order.size().samples()).isEqualTo(c.get("samples").longValue());
        assertThat(order.size().batches()).isEqualTo(c.get("batches").longValue());
        for (JsonNode e : c.get("epochs")) {
            EpochOrder epoch = order.epoch(e.get("epoch").longValue());
            for (int lane = 0; lane < order.lanes(); lane++) {
                checkLane(chunks, epoch.lane(lane), e.get("lanes").get(lane));
            }
            JsonNode batches = e.get("batches");
            assertThat(batches.size()).isEqualTo((int) order.size().batches());
            for (int m = 0; m < batches.size(); m++) {
                List<Piece> expected = new ArrayList<>();
                batches.get(m)
                        .forEach(p -> expected.add(new Piece(
                                p.get(0).intValue(),
                                p.get(1).longValue(),
                                p.get(2).intValue())));
                assertThat(epoch.batch(m))
                        .as("epoch %d batch %d", epoch.epoch(), m)
                        .isEqualTo(expected);
            }
        }
    }

    private static void checkLane(StreamChunks chunks, LaneEpoch lane, JsonNode expected) throws Exception {
        long[] sequence = new long[lane.sequence().length];
        for (int i = 0; i < sequence.length; i++) {
            sequence[i] = chunks.ordinal(lane.sequence()[i]);
        }
        assertThat(sequence).isEqualTo(Vectors.longs(expected.get("chunks")));
        assertThat(lane.windows()).isEqualTo(expected.get("window_chunks").size());
        ByteBuffer rows = ByteBuffer.allocate((int) lane.rows() * 16).order(ByteOrder.LITTLE_ENDIAN);
        for (int w = 0; w < lane.windows(); w++) {
            assertThat(lane.windowChunks(w))
                    .hasSize(expected.get("window_chunks").get(w).intValue());
            Window window = lane.window(w);
            assertThat(window.rows())
                    .isEqualTo(expected.get("window_rows").get(w).intValue());
            assertThat(window.firstRow()).isEqualTo(rows.position() / 16);
            for (int i = 0; i < window.rows(); i++) {
                rows.putLong(chunks.ordinal(window.chunkAt(i))).putLong(window.rowAt(i));
            }
        }
        if (expected.has("rows")) {
            for (int i = 0; i < expected.get("rows").size(); i++) {
                assertThat(new long[] {rows.getLong(16 * i), rows.getLong(16 * i + 8)})
                        .as("lane %d row %d", lane.lane(), i)
                        .isEqualTo(Vectors.longs(expected.get("rows").get(i)));
            }
        }
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(rows.array());
        assertThat(HexFormat.of().formatHex(digest))
                .isEqualTo(expected.get("sha256").textValue());
    }

    private static long hex(JsonNode text) {
        return Long.parseUnsignedLong(text.textValue(), 16);
    }
}
