package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class LanePiecesTest {
    @Test
    void findsThePiecesOfALaneAmongThoseOfTheWholeEpoch(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(100).run((random, round) -> {
            long[] rows = new long[1 + random.nextInt(9)];
            for (int lane = 0; lane < rows.length; lane++) {
                rows[lane] = random.nextInt(4) == 0 ? 0 : random.nextInt(60);
            }
            LaneOrder order = random.nextBoolean() ? LaneOrder.FIXED : LaneOrder.MIXED;
            OrderSpec spec = new OrderSpec(
                    random.nextInt(9), 1 + random.nextInt(12), rows.length, 0, ShufflePolicy.WINDOW, order);
            EpochNumbering numbering = new EpochNumbering(spec, rows, random.nextInt(5));
            for (int lane = 0; lane < rows.length; lane++) {
                List<Long> expected = new ArrayList<>();
                for (long number = 0; number < numbering.size().batches(); number++) {
                    int wanted = lane;
                    if (numbering.batch(number).stream().anyMatch(piece -> piece.lane() == wanted)) {
                        expected.add(number);
                    }
                }
                LanePieces pieces = new LanePieces(numbering, lane);
                List<Long> found = new ArrayList<>();
                for (long i = 0; i < pieces.count(); i++) {
                    found.add(pieces.number(i));
                }
                assertThat(found).as("lane %d", lane).isEqualTo(expected);
                for (int i = 0; i < expected.size(); i++) {
                    assertThat(pieces.firstFrom(expected.get(i))).isEqualTo(i);
                }
                assertThat(pieces.firstFrom(Long.MAX_VALUE)).isEqualTo(expected.size());
            }
        });
    }
}
