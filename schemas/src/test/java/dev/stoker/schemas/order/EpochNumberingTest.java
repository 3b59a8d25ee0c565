package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.testing.Rounds;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class EpochNumberingTest {
    /** 10^17 samples: whatever enumerated rounds would not end. */
    @Test
    void findsAnyNumberOfAnEndlessEpochAtOnce(TestInfo test) {
        Rounds.of(test).seconds(0.2).atLeast(1).run((random, round) -> findNumbers(random));
    }

    private static void findNumbers(Random random) {
        long[] rows = new long[300];
        for (int l = 0; l < rows.length; l++) {
            rows[l] = (random.nextLong() >>> 1) % 1_000_000_000_000_000L;
        }
        EpochNumbering numbering = new EpochNumbering(OrderSpec.defaults(), rows, 5);
        Assertions.assertTimeoutPreemptively(Duration.ofSeconds(20), () -> {
            for (int i = 0; i < 2000; i++) {
                long number = (random.nextLong() >>> 1) % numbering.size().batches();
                for (Piece piece : numbering.batch(number)) {
                    assertThat(piece.firstRow() + piece.rows())
                            .as("number %d", number)
                            .isLessThanOrEqualTo(rows[piece.lane()]);
                }
            }
        });
    }

    @Test
    void givesEachLaneOfARoundOneNumber() {
        EpochNumbering numbering = new EpochNumbering(spec(LaneOrder.MIXED), new long[] {30, 11, 0, 45}, 0);
        Set<Integer> first = new HashSet<>();
        for (long m = 0; m < 3; m++) {
            Piece piece = numbering.batch(m).get(0);
            assertThat(piece.firstRow()).isZero();
            first.add(piece.lane());
        }
        assertThat(first).containsExactlyInAnyOrder(0, 1, 3);
    }

    @Test
    void joinsWhatIsLeftInAscendingLanes() {
        EpochNumbering numbering = new EpochNumbering(spec(LaneOrder.FIXED), new long[] {13, 10, 4, 19}, 0);
        assertThat(numbering.fullBatches()).isEqualTo(3);
        assertThat(numbering.size().batches()).isEqualTo(5);
        assertThat(numbering.batch(2)).containsExactly(new Piece(3, 0, 10));
        assertThat(numbering.batch(3)).containsExactly(new Piece(0, 10, 3), new Piece(2, 0, 4), new Piece(3, 10, 3));
        assertThat(numbering.batch(4)).containsExactly(new Piece(3, 13, 6));
    }

    @Test
    void mixesLanesAnewInEachRoundAndEpoch() {
        Set<List<Integer>> orders = new HashSet<>();
        for (long epoch = 0; epoch < 3; epoch++) {
            EpochNumbering numbering =
                    new EpochNumbering(spec(LaneOrder.MIXED), new long[] {30, 30, 30, 30, 30}, epoch);
            for (int round = 0; round < 3; round++) {
                List<Integer> lanes = new ArrayList<>();
                for (int i = 0; i < 5; i++) {
                    lanes.add(numbering.batch(round * 5 + i).get(0).lane());
                }
                assertThat(lanes).containsExactlyInAnyOrder(0, 1, 2, 3, 4);
                orders.add(lanes);
            }
        }
        assertThat(orders.size()).isGreaterThan(6);
    }

    @Test
    void refusesNumbersOutsideTheEpoch() {
        EpochNumbering numbering = new EpochNumbering(spec(LaneOrder.MIXED), new long[] {15}, 0);
        assertThatThrownBy(() -> numbering.batch(2)).hasMessage("batch 2 of an epoch of 2");
        assertThatThrownBy(() -> numbering.batch(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Delivery.batch(numbering, TailPolicy.DROP, 1)).hasMessageContaining("has 1 batches");
        assertThatThrownBy(() -> Delivery.batch(numbering, TailPolicy.KEEP, 2)).hasMessageContaining("has 2 batches");
    }

    private static OrderSpec spec(LaneOrder laneOrder) {
        return new OrderSpec(3, 10, 16, 1 << 20, ShufflePolicy.WINDOW, laneOrder);
    }
}
