package dev.stoker.schemas.order.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class SkippedBatchesTest {

    private static final int REPEATS = 3;

    @Test
    void slotsNumberTheBatchesThatAreLeft(TestInfo test) {
        Rounds.of(test).seconds(1).atLeast(300).run((random, round) -> {
            int batches = 1 + random.nextInt(30);
            List<SkipList.Range> given = new ArrayList<>();
            for (int i = random.nextInt(5); i > 0; i--) {
                long first = random.nextInt(batches + 4);
                given.add(new SkipList.Range(3, first, first + random.nextInt(9)));
            }
            SkipList list = SkipList.of(given);
            assertThat(SkipList.parse(3, list.text(3))).isEqualTo(list);
            SkippedBatches skipped = list.in(3, new EpochSize(batches, 1));
            long[] left = LongStream.range(0, batches)
                    .filter(n -> given.stream().noneMatch(r -> r.first() <= n && n <= r.last()))
                    .toArray();
            assertThat(list.in(2, new EpochSize(batches, 1)).isEmpty()).isTrue();
            for (int again = 0; again < REPEATS; again++) {
                for (int i = 0; i < left.length; i++) {
                    long number = left[i] + (long) again * batches;
                    long slot = i + (long) again * left.length;
                    assertThat(skipped.number(slot)).isEqualTo(number);
                    assertThat(skipped.slot(number)).isEqualTo(slot);
                }
                for (long n = 0; n < (left.length == 0 ? 0 : batches); n++) {
                    long number = n;
                    boolean isLeft = LongStream.of(left).anyMatch(l -> l == number);
                    assertThat(skipped.contains(n + (long) again * batches)).isEqualTo(!isLeft);
                    long before = LongStream.of(left).filter(l -> l < number).count() + (long) again * left.length;
                    assertThat(skipped.slot(n + (long) again * batches)).isEqualTo(before);
                }
            }
            if (left.length > 0) {
                checkNumbers(skipped, batches, left, random);
            }
        });
    }

    private static void checkNumbers(SkippedBatches skipped, int batches, long[] left, Random random) {
        int start = random.nextInt(left.length);
        int stride = 1 + random.nextInt(5);
        int count = random.nextInt(left.length);
        BatchNumbers numbers = new BatchNumbers(left[start], stride, count, skipped);
        List<Long> expected = LongStream.range(0, count)
                .map(i -> skipped.number(start + i * stride))
                .boxed()
                .toList();
        for (long n = 0; n < (long) batches * (2 + 5); n++) {
            assertThat(numbers.index(n)).isEqualTo(expected.indexOf(n));
        }
        for (int i = 0; i < count; i++) {
            assertThat(numbers.number(i)).isEqualTo(expected.get(i));
        }
    }

    @Test
    void trainersWithoutABatchAreToldApartByTheirSlots() {
        SkippedBatches skipped = new SkippedBatches(5, List.of(new SkipList.Range(0, 0, 7)));
        assertThat(skipped.left()).isZero();
        for (long slot = 0; slot < 9; slot++) {
            assertThat(skipped.slot(skipped.number(slot))).isEqualTo(slot);
        }
    }

    @Test
    void rangesAreMergedAndChecked() {
        assertThat(SkipList.of(List.of(
                                new SkipList.Range(1, 5, 7),
                                new SkipList.Range(0, 9, 9),
                                new SkipList.Range(1, 8, 8),
                                new SkipList.Range(1, 6, 6)))
                        .ranges())
                .containsExactly(new SkipList.Range(0, 9, 9), new SkipList.Range(1, 5, 8));
        assertThatThrownBy(() -> new SkipList.Range(0, 3, 2)).hasMessageContaining("expected 0 <= first <= last");
        assertThatThrownBy(() -> new SkipList(List.of(new SkipList.Range(0, 0, 2), new SkipList.Range(0, 3, 4))))
                .hasMessageContaining("overlap, touch or descend");
        List<SkipList.Range> many = LongStream.range(0, SkipList.MAX_RANGES + 1L)
                .mapToObj(i -> new SkipList.Range(0, 2 * i, 2 * i))
                .toList();
        assertThatThrownBy(() -> new SkipList(many)).hasMessageContaining("expected at most 256");
    }
}
