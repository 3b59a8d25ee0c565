package dev.stoker.schemas.order;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.order.NaiveOrder.NaiveChunk;
import dev.stoker.schemas.order.NaiveOrder.Sample;
import dev.stoker.schemas.order.delivery.DeliveredBatch;
import dev.stoker.schemas.order.delivery.Delivery;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.Position;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.schemas.testing.Rounds;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** Random streams against {@link NaiveOrder}, and what the order promises whatever the stream. */
class OrderModelTest {
    private static final int STREAMS = 50;

    @Test
    void agreesWithTheTrivialImplementation(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(STREAMS).run((random, round) -> {
            List<NaiveChunk> chunks = randomChunks(random);
            OrderSpec spec = randomSpec(random);
            NaiveOrder naive = new NaiveOrder(spec, chunks);
            StreamOrder order = new StreamOrder(build(chunks), spec);
            for (long epoch : new long[] {0, 1, random.nextInt(1000), 0xFFFF_FFFFL}) {
                assertThat(batches(order.epoch(epoch))).as(spec.toJson()).isEqualTo(naive.batches(epoch));
            }
        });
    }

    @Test
    void deliversEverySampleOnceAnEpochInFullBatchesButTheLast(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(STREAMS).run((random, round) -> {
            List<NaiveChunk> chunks = randomChunks(random);
            OrderSpec spec = randomSpec(random);
            StreamOrder order = new StreamOrder(build(chunks), spec);
            Set<Sample> all = new HashSet<>();
            chunks.forEach(c -> c.liveRows().forEach(r -> all.add(new Sample(c.ordinal(), r))));
            List<List<Sample>> batches = batches(order.epoch(round));
            List<Sample> delivered = batches.stream().flatMap(List::stream).toList();
            assertThat(delivered).as(spec.toJson()).hasSize(all.size()).containsAll(all);
            long expected = ((long) all.size() + spec.batchSize() - 1) / spec.batchSize();
            assertThat((long) batches.size())
                    .isEqualTo(expected)
                    .isEqualTo(order.size().batches());
            for (int m = 0; m < batches.size() - 1; m++) {
                assertThat(batches.get(m)).as(spec.toJson()).hasSize(spec.batchSize());
            }
            if (!batches.isEmpty()) {
                assertThat(batches.get(batches.size() - 1)).hasSize(order.size().lastRows());
            }
        });
    }

    @Test
    void withoutShuffleBatchesHaveTheStoredOrderForAnyNumberOfLanes(TestInfo test) {
        Rounds.of(test).seconds(0.3).atLeast(STREAMS).run((random, round) -> {
            List<NaiveChunk> chunks = randomChunks(random);
            OrderSpec any = randomSpec(random);
            OrderSpec spec = new OrderSpec(
                    any.seed(),
                    any.batchSize(),
                    any.lanes(),
                    any.shuffleWindowBytes(),
                    ShufflePolicy.NONE,
                    any.laneOrder());
            List<Sample> stored = new ArrayList<>();
            chunks.forEach(c -> c.liveRows().forEach(r -> stored.add(new Sample(c.ordinal(), r))));
            StreamOrder order = new StreamOrder(build(chunks), spec);
            assertThat(order.lanes()).isEqualTo(1);
            assertThat(batches(order.epoch(round)).stream().flatMap(List::stream))
                    .as(spec.toJson())
                    .containsExactlyElementsOf(stored);
        });
    }

    @Test
    void appendsDeletesAndCompactionsMoveNoChunk(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(STREAMS).run((random, round) -> {
            // Every chunk that is written has a row; with that, lanes are stable even while there are few chunks.
            List<NaiveChunk> before =
                    randomChunks(random).stream().filter(c -> c.rows() > 0).toList();
            OrderSpec spec = randomSpec(random);
            StreamOrder old = new StreamOrder(build(before), spec);
            List<NaiveChunk> after = new ArrayList<>();
            for (NaiveChunk c : before) {
                after.add(
                        random.nextBoolean() ? c : new NaiveChunk(c.ordinal(), c.rows(), c.length(), false, List.of()));
            }
            long next = before.isEmpty() ? 0 : before.get(before.size() - 1).ordinal() + 1;
            for (int n = random.nextInt(20); n > 0; n--) {
                after.add(randomChunk(random, next++));
            }
            StreamOrder changed = new StreamOrder(build(after), spec);
            for (int c = 0; c < before.size(); c++) {
                assertThat(changed.laneOf(c)).as(spec.toJson()).isEqualTo(old.laneOf(c));
            }
        });
    }

    @Test
    void ranksAreDisjointAndCompleteForEveryWorldSize(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(STREAMS).run((random, round) -> {
            OrderSpec spec = randomSpec(random);
            StreamOrder order = new StreamOrder(build(randomChunks(random)), spec);
            long batches = order.size().batches();
            long start = batches == 0 ? 0 : random.nextInt((int) batches + 1);
            for (int world : new int[] {1, 2, 3, 8}) {
                for (TailPolicy tail : TailPolicy.values()) {
                    Set<Long> seen = new TreeSet<>();
                    Set<Long> steps = new HashSet<>();
                    for (int rank = 0; rank < world; rank++) {
                        steps.add(new Delivery(order.size(), tail, Participant.rank(rank, world), start).rankSteps());
                        int workers = 1 + random.nextInt(3);
                        for (int worker = 0; worker < workers; worker++) {
                            Delivery part = new Delivery(
                                    order.size(), tail, new Participant(rank, world, worker, workers), start);
                            for (long s = 0; s < part.steps(); s++) {
                                assertThat(part.number(s) % world).isEqualTo(rank);
                                assertThat(seen.add(part.number(s)))
                                        .as(spec.toJson())
                                        .isTrue();
                            }
                        }
                    }
                    checkNumbers(order.size(), tail, world, start, seen, steps);
                }
            }
        });
    }

    /** The numbers of all ranks together are consecutive from the start, and as many as the tail policy says. */
    private static void checkNumbers(
            EpochSize size, TailPolicy tail, int world, long start, Set<Long> seen, Set<Long> steps) {
        long left = size.batches() - start;
        long expected = switch (tail) {
            case PAD -> (left + world - 1) / world * world;
            case DROP -> Math.max(0, size.wholeBatches() - start) / world * world;
            case KEEP -> left;
        };
        assertThat((long) seen.size()).isEqualTo(expected);
        long next = start;
        for (long number : seen) {
            assertThat(number).isEqualTo(next++);
        }
        if (tail != TailPolicy.KEEP) {
            assertThat(steps).as("all ranks take equally many steps").hasSize(1);
        }
    }

    @Test
    void resumesWithAnotherWorldSizeAtExactlyTheRest(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(STREAMS).run((random, round) -> {
            OrderSpec spec = randomSpec(random);
            StreamOrder order = new StreamOrder(build(randomChunks(random)), spec);
            EpochSize size = order.size();
            if (size.batches() == 0) {
                return;
            }
            List<Long> consumed = new ArrayList<>();
            Position at = Position.START;
            while (at.epoch() == 0) {
                int world = 1 + random.nextInt(8);
                long steps = 1L + random.nextInt(3);
                Position next = at;
                for (long s = 0; s < steps && next.epoch() == 0; s++) {
                    for (int rank = 0; rank < world; rank++) {
                        Delivery d = new Delivery(size, TailPolicy.KEEP, Participant.rank(rank, world), at.batch());
                        if (s < d.rankSteps()) {
                            consumed.add(d.number(s));
                        }
                        next = d.after(0, s);
                    }
                }
                at = next;
            }
            assertThat(consumed).as(spec.toJson()).hasSize((int) size.batches()).doesNotHaveDuplicates();
            assertThat(at).isEqualTo(new Position(1, 0));
        });
    }

    @Test
    void padFillsEveryBatchAndFlagsExactlyWhatIsRepeated(TestInfo test) {
        Rounds.of(test).seconds(0.5).atLeast(STREAMS).run((random, round) -> {
            OrderSpec spec = randomSpec(random);
            StreamOrder order = new StreamOrder(build(randomChunks(random)), spec);
            EpochNumbering numbering = order.epoch(3).numbering();
            long batches = numbering.size().batches();
            long fresh = 0;
            for (long v = 0; batches > 0 && v < batches * 2 + 5; v++) {
                DeliveredBatch batch = Delivery.batch(numbering, TailPolicy.PAD, v);
                assertThat(batch.rows()).as(spec.toJson()).isEqualTo(spec.batchSize());
                fresh += batch.rows() - batch.repeatedRows();
            }
            assertThat(fresh).as(spec.toJson()).isEqualTo(order.size().samples());
        });
    }

    private static List<List<Sample>> batches(EpochOrder epoch) {
        StreamChunks chunks = epoch.stream().chunks();
        List<List<Sample>> out = new ArrayList<>();
        for (long m = 0; m < epoch.stream().size().batches(); m++) {
            List<Sample> batch = new ArrayList<>();
            for (Piece piece : epoch.batch(m)) {
                LaneEpoch lane = epoch.lane(piece.lane());
                for (WindowSlice slice : lane.slices(piece.firstRow(), piece.rows())) {
                    Window window = lane.window(slice.window());
                    for (int r = slice.from(); r < slice.to(); r++) {
                        batch.add(new Sample(chunks.ordinal(window.chunkAt(r)), window.rowAt(r)));
                    }
                }
            }
            out.add(batch);
        }
        return out;
    }

    private static OrderSpec randomSpec(Random random) {
        return new OrderSpec(
                random.nextLong() >>> 1,
                1 + random.nextInt(random.nextBoolean() ? 8 : 60),
                1 + random.nextInt(12),
                random.nextInt(4) == 0 ? random.nextLong() >>> 1 : random.nextInt(30_000),
                random.nextInt(4) == 0 ? ShufflePolicy.NONE : ShufflePolicy.WINDOW,
                random.nextInt(4) == 0 ? LaneOrder.FIXED : LaneOrder.MIXED);
    }

    private static List<NaiveChunk> randomChunks(Random random) {
        List<NaiveChunk> chunks = new ArrayList<>();
        int count = random.nextInt(40);
        boolean equal = random.nextBoolean();
        long ordinal = random.nextInt(3);
        for (int i = 0; i < count; i++) {
            chunks.add(
                    equal && i < count * 3 / 4
                            ? new NaiveChunk(ordinal, 10, 1000, random.nextInt(8) > 0, List.of())
                            : randomChunk(random, ordinal));
            ordinal += 1 + (random.nextInt(5) == 0 ? random.nextInt(9) : 0);
        }
        return chunks;
    }

    private static NaiveChunk randomChunk(Random random, long ordinal) {
        int rows = random.nextInt(10) == 0 ? 0 : random.nextInt(30);
        List<Integer> removed = new ArrayList<>();
        if (random.nextInt(3) == 0) {
            int often = 1 + random.nextInt(5);
            for (int r = 0; r < rows; r++) {
                if (random.nextInt(often) == 0) {
                    removed.add(r);
                }
            }
        }
        return new NaiveChunk(ordinal, rows, 512 + random.nextInt(5000), random.nextInt(6) > 0, removed);
    }

    private static StreamChunks build(List<NaiveChunk> chunks) {
        StreamChunksBuilder builder = StreamChunks.builder(chunks.size() / 2);
        for (NaiveChunk c : chunks) {
            if (c.live()) {
                int[] removed = c.removed().stream().mapToInt(r -> r).toArray();
                builder.addLive(
                        c.ordinal(),
                        new UUID(7, c.ordinal()),
                        c.rows(),
                        removed,
                        new ExpectedChunk(c.length(), 0, 0, 0, 0));
            } else {
                builder.addGhost(c.ordinal(), c.rows());
            }
        }
        return builder.build();
    }
}
