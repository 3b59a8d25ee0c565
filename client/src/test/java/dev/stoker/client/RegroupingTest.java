package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.EpochNumbering;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.Piece;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.testing.Rounds;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Positions under another batch size, against the enumerated batches. */
class RegroupingTest {
    private static OrderSpec order(int batchSize, int lanes, long seed) {
        return new OrderSpec(seed, batchSize, lanes, 1 << 20, ShufflePolicy.WINDOW, LaneOrder.MIXED);
    }

    private static Set<String> rows(EpochNumbering numbering, long from, long to) {
        Set<String> rows = new HashSet<>();
        for (long number = from; number < to; number++) {
            for (Piece piece : numbering.batch(number)) {
                for (int row = 0; row < piece.rows(); row++) {
                    rows.add(piece.lane() + "/" + (piece.firstRow() + row));
                }
            }
        }
        return rows;
    }

    @Test
    void nothingIsLeftOutAndTheLatestPositionIsTaken(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(200).run((random, round) -> {
            long[] lanes = random.longs(1 + random.nextInt(5), 0, 25).toArray();
            int before = 1 + random.nextInt(6);
            int now = 1 + random.nextInt(6);
            OrderSpec order = order(now, lanes.length, round);
            EpochNumbering old = new EpochNumbering(order(before, lanes.length, round), lanes, 2);
            EpochNumbering fresh = new EpochNumbering(order, lanes, 2);
            List<Long> laneRows = Arrays.stream(lanes).boxed().toList();
            for (long at = 0; at <= old.size().batches(); at++) {
                String what = laneRows + ", " + before + " to " + now + " at " + at;
                Set<String> consumed = rows(old, 0, at);
                Regrouping found = Regrouping.of(order, laneRows, before, new Position(2, at));
                long position = found.position().batch();
                Set<String> passed = rows(fresh, 0, position);
                assertThat(consumed).as(what).containsAll(passed);
                assertThat(found.repeats()).as(what).isEqualTo(consumed.size() - passed.size());
                assertThat(found.position().epoch()).isEqualTo(2);
                if (position < fresh.size().batches()) {
                    assertThat(consumed.containsAll(rows(fresh, 0, position + 1)))
                            .as(what)
                            .isFalse();
                }
            }
        });
    }

    @Test
    void aPositionBeyondTheEpochIsNone() {
        assertThatThrownBy(() -> Regrouping.of(order(3, 1, 0), List.of(10L), 5, new Position(0, 3)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("batch 3 of 2");
    }
}
