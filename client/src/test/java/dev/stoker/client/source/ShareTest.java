package dev.stoker.client.source;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.EpochSize;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.SkippedBatches;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The shares of ranks and workers, against the order's own {@link Delivery}. */
class ShareTest {
    private static EpochSize size(Random random) {
        return new EpochSize(random.nextInt(60), 1 + random.nextInt(4));
    }

    private static SkippedBatches skipped(Random random, EpochSize size) {
        List<SkipList.Range> ranges = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            long first = random.nextInt(Math.max(1, (int) size.batches()));
            ranges.add(new SkipList.Range(0, first, first + random.nextInt(5)));
        }
        return SkipList.of(ranges).in(0, size);
    }

    private static <T> T any(Random random, T[] values) {
        return values[random.nextInt(values.length)];
    }

    @Test
    void aShareOfWholeEpochsIsADelivery(TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(1_000).run((random, round) -> {
            EpochSize size = size(random);
            SkippedBatches skipped = skipped(random, size);
            TailPolicy tail = any(random, TailPolicy.values());
            int world = 1 + random.nextInt(5);
            int workers = 1 + random.nextInt(3);
            Participant who = new Participant(random.nextInt(world), world, random.nextInt(workers), workers);
            long start = random.nextInt((int) size.batches() + 1);
            Share share = new Share(size, tail, start, who, 1, OptionalInt.empty(), skipped);
            Delivery delivery = new Delivery(size, tail, who, start, skipped);
            String what = share.toString();
            assertThat(share.steps()).as(what).isEqualTo(delivery.steps());
            assertThat(share.range(7))
                    .as(what)
                    .isEqualTo(new Span.Range(7, delivery.first(), delivery.stride(), delivery.steps(), tail, skipped));
            for (long step = 0; step < share.steps(); step++) {
                assertThat(share.after(7, step)).as(what).isEqualTo(delivery.after(7, delivery.rankStep(step)));
            }
        });
    }

    @Test
    void joinedBatchesAreTheRanksOfALargerJob(TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(1_000).run((random, round) -> {
            EpochSize size = size(random);
            SkippedBatches skipped = skipped(random, size);
            TailPolicy tail = any(random, TailPolicy.values());
            int world = 1 + random.nextInt(4);
            int concat = 2 + random.nextInt(3);
            int rank = random.nextInt(world);
            long start = random.nextInt((int) size.batches() + 1);
            Share share =
                    new Share(size, tail, start, Participant.rank(rank, world), concat, OptionalInt.empty(), skipped);
            String what = share.toString();
            Span.Range range = share.range(0);
            List<List<Long>> expected = new ArrayList<>();
            for (long step = 0; step < share.steps(); step++) {
                List<Long> numbers = new ArrayList<>();
                for (int part = 0; part < concat; part++) {
                    long slot = skipped.slot(range.first()) + (step * concat + part) * world;
                    if (tail == TailPolicy.PAD ? slot < skipped.left() + world : slot < skipped.left()) {
                        numbers.add(skipped.number(slot));
                    }
                }
                expected.add(numbers);
            }
            assertThat(range.count())
                    .as(what)
                    .isEqualTo(expected.stream().mapToLong(List::size).sum());
            // This rank represents several ranks. The first of them makes the same number of steps.
            long begin = skipped.slot(start);
            int first = (int) Math.floorMod(skipped.slot(range.first()) - begin, (long) world);
            Participant larger =
                    Participant.rank((int) Math.floorMod(begin + first, (long) world * concat), world * concat);
            Delivery delivery = new Delivery(size, tail, larger, start, skipped);
            assertThat(share.steps()).as(what).isEqualTo(delivery.rankSteps());
            for (long step = 0; step < share.steps(); step++) {
                assertThat(share.after(0, step)).as(what).isEqualTo(delivery.after(0, step));
            }
        });
    }

    @Test
    void partsFollowEachOtherToTheEndOfTheEpoch(TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(1_000).run((random, round) -> {
            EpochSize size = size(random);
            SkippedBatches skipped = skipped(random, size);
            TailPolicy tail = any(random, TailPolicy.values());
            int world = 1 + random.nextInt(4);
            int concat = 1 + random.nextInt(2);
            OptionalInt limit = OptionalInt.of(1 + random.nextInt(5));
            Participant who = Participant.rank(random.nextInt(world), world);
            Share whole = new Share(size, tail, 0, who, concat, OptionalInt.empty(), skipped);
            String what = whole + " by " + limit;
            long parts = 0;
            long steps = 0;
            Position at = new Position(3, 0);
            while (at.epoch() == 3) {
                Share part = new Share(size, tail, at.batch(), who, concat, limit, skipped);
                steps += part.steps();
                parts++;
                at = part.afterLimit(3);
            }
            assertThat(at).as(what).isEqualTo(new Position(4, 0));
            assertThat(steps).as(what).isEqualTo(whole.steps());
            assertThat(parts).as(what).isEqualTo(new Share(size, tail, 0, who, concat, limit, skipped).parts());
        });
    }
}
