package dev.stoker.schemas.order.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Vectors;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DeliveryVectorsTest {
    @Test
    void deliversAsTheVectorsSay() throws Exception {
        JsonNode cases = Vectors.read("delivery.json").get("cases");
        assertThat(cases.size()).isGreaterThan(200);
        for (JsonNode c : cases) {
            check(c);
        }
    }

    private static void check(JsonNode c) {
        OrderSpec spec = OrderSpec.fromJson(c.get("order"));
        TailPolicy tail = TailPolicy.byText(c.get("tail").textValue());
        long epoch = c.get("epoch").longValue();
        long start = c.get("start").longValue();
        int world = c.get("world_size").intValue();
        EpochNumbering numbering = new EpochNumbering(spec, Vectors.longs(c.get("lane_rows")), epoch);
        String where = c.get("lane_rows") + " " + tail + " from " + start + " of " + numbering.size() + " W=" + world;
        assertThat(numbering.size().batches())
                .as(where)
                .isEqualTo(c.get("batches").longValue());
        SkippedBatches skipped = skipped(c.path("skip")).in(epoch, numbering.size());
        for (JsonNode r : c.get("ranks")) {
            int rank = r.get("rank").intValue();
            Delivery delivery = new Delivery(numbering.size(), tail, Participant.rank(rank, world), start, skipped);
            assertThat(delivery.rankFirst()).as(where).isEqualTo(r.get("first").longValue());
            assertThat(delivery.steps()).as(where).isEqualTo(r.get("steps").longValue());
            for (int i = 0; i < r.get("steps").intValue(); i++) {
                JsonNode b = r.get("batches").get(i);
                assertThat(delivery.number(i))
                        .as(where)
                        .isEqualTo(b.get("number").longValue());
                DeliveredBatch batch = Delivery.batch(numbering, tail, delivery.number(i));
                assertThat(batch.physical())
                        .as(where)
                        .isEqualTo(b.get("physical").longValue());
                assertThat(batch.repeatedRows())
                        .as(where)
                        .isEqualTo(b.get("repeated").intValue());
                assertThat(batch.pieces()).as(where).isEqualTo(pieces(b.get("pieces")));
                JsonNode state = r.get("states").get(i);
                assertThat(delivery.after(epoch, i))
                        .as(where)
                        .isEqualTo(new Position(
                                state.get(0).longValue(), state.get(1).longValue()));
            }
            r.get("workers").properties().forEach(e -> {
                int workers = Integer.parseInt(e.getKey());
                for (int w = 0; w < workers; w++) {
                    Participant worker = new Participant(rank, world, w, workers);
                    Delivery part = new Delivery(numbering.size(), tail, worker, start, skipped);
                    List<Long> numbers = new ArrayList<>();
                    for (long i = 0; i < part.steps(); i++) {
                        numbers.add(part.number(i));
                        assertThat(part.number(i)).isEqualTo(delivery.number(part.rankStep(i)));
                        assertThat(part.stepOf(part.number(i))).as(where).hasValue(i);
                        assertThat(part.rankOf(part.number(i))).as(where).isEqualTo(rank);
                    }
                    List<Long> expected = new ArrayList<>();
                    e.getValue().get(w).forEach(n -> expected.add(n.longValue()));
                    for (long number = 0; number < numbering.size().batches(); number++) {
                        assertThat(part.stepOf(number).isPresent()).isEqualTo(numbers.contains(number));
                    }
                    assertThat(numbers)
                            .as("%s worker %d of %d", where, w, workers)
                            .isEqualTo(expected);
                }
            });
        }
    }

    private static SkipList skipped(JsonNode ranges) {
        List<SkipList.Range> list = new ArrayList<>();
        ranges.forEach(range -> list.add(
                new SkipList.Range(1, range.get(0).longValue(), range.get(1).longValue())));
        return SkipList.of(list);
    }

    private static List<DeliveredPiece> pieces(JsonNode list) {
        List<DeliveredPiece> pieces = new ArrayList<>();
        list.forEach(p -> pieces.add(new DeliveredPiece(
                p.get(0).intValue(),
                p.get(1).longValue(),
                p.get(2).intValue(),
                p.get(3).intValue() == 1)));
        return pieces;
    }
}
