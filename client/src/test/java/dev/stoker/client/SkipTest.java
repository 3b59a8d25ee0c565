package dev.stoker.client;

import static dev.stoker.client.FakeStream.read;
import static dev.stoker.client.FakeStream.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.errors.Difference;
import dev.stoker.client.errors.StateMismatchException;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.SkipList;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches that are left out by number. */
@Timeout(120)
class SkipTest {
    /** 49 samples: 13 batches. */
    private static final FakeStream STREAM = FakeStream.of(4, 23, 17, 9);

    /** In the middle, at the beginning, at the end, and a whole epoch. */
    private static final SkipList SKIP = SkipList.of(List.of(
            new SkipList.Range(0, 3, 5),
            new SkipList.Range(0, 8, 8),
            new SkipList.Range(1, 0, 1),
            new SkipList.Range(1, 11, 40),
            new SkipList.Range(2, 0, 20)));

    private final FakeFeeder feeder = new FakeFeeder(STREAM);

    @AfterEach
    void stop() {
        feeder.close();
    }

    private static FeedClientBuilder skipping(FeedClientBuilder builder) {
        SKIP.ranges().forEach(range -> builder.steps(s -> s.skip(range.epoch(), range.first(), range.last())));
        return builder;
    }

    @ParameterizedTest
    @EnumSource(TailPolicy.class)
    void ranksDivideTheBatchesThatAreLeft(TailPolicy tail) {
        for (int world : new int[] {1, 2, 3}) {
            for (int rank = 0; rank < world; rank++) {
                Participant who = Participant.rank(rank, world);
                try (FeedClient feed = skipping(
                                feeder.client().rank(rank, world).steps(s -> s.tail(tail)))
                        .open()) {
                    for (int epoch = 0; epoch < 4; epoch++) {
                        List<String> expected = STREAM.expected(epoch, tail, who, 0, SKIP);
                        assertThat(feed.steps()).isEqualTo(expected.size());
                        assertThat(read(feed)).as("rank %d of %d", rank, world).isEqualTo(expected);
                    }
                }
            }
        }
        assertThat(feeder.hellos).allMatch(hello -> hello.reading().skip().equals(SKIP));
    }

    @Test
    void aStateResumesWithAnotherNumberOfRanks() {
        List<String> states = new ArrayList<>();
        List<String> every = new ArrayList<>();
        try (FeedClient feed = skipping(feeder.client()).open()) {
            for (int epoch = 0; epoch < 2; epoch++) {
                for (Batch batch : feed.epoch()) {
                    every.add(text(batch));
                    states.add(batch.state());
                }
            }
        }
        assertThat(states.get(2))
                .contains("\"epoch\":0,\"batch\":6,")
                .contains("\"skip\":[[0,8,8],[1,0,1],[1,11,40],[2,0,20]]");
        for (int at : new int[] {0, 2, 4}) {
            List<List<String>> ranks = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                try (FeedClient feed = skipping(feeder.client().rank(rank, 2).steps(s -> s.tail(TailPolicy.KEEP)))
                        .open()) {
                    feed.load(states.get(at));
                    ranks.add(read(feed));
                }
            }
            List<String> found = new ArrayList<>(ranks.get(0));
            found.addAll(ranks.get(1));
            List<String> left = every.subList(at + 1, every.size()).stream()
                    .filter(batch -> batch.startsWith("0#"))
                    .map(batch -> batch.substring(0, batch.indexOf(' ')))
                    .toList();
            assertThat(found.stream().map(batch -> batch.substring(0, batch.indexOf(' '))))
                    .containsExactlyInAnyOrderElementsOf(left);
        }
    }

    @Test
    void aStateRefusesAClientThatDeliversWhatItSkips() {
        String state;
        try (FeedClient feed = skipping(feeder.client()).open()) {
            Iteration epoch = feed.epoch();
            epoch.next();
            state = epoch.next().state();
        }
        try (FeedClient feed =
                feeder.client().steps(s -> s.skip(0, 2, 9).skip(1, 0, 40)).open()) {
            assertThatThrownBy(() -> feed.load(state))
                    .isInstanceOf(StateMismatchException.class)
                    .hasMessageContaining("skipped batches: (2, 0, 20) are skipped in the state, not here")
                    .hasMessageContaining("load(state, Difference.SKIP)");
            feed.load(state, Difference.SKIP);
            assertThat(read(feed))
                    .isEqualTo(STREAM.expected(
                            0,
                            TailPolicy.PAD,
                            Participant.rank(0, 1),
                            2,
                            SkipList.of(List.of(new SkipList.Range(0, 2, 9)))));
            assertThatThrownBy(() -> feed.load(state.replace("[2,0,20]", "[2,20,0]")))
                    .hasMessageContaining("not a state of a feed: batches 20 to 0 of epoch 2");
            assertThatThrownBy(() -> feed.load(state.replace("[2,0,20]", "[2,\"a\"]")))
                    .hasMessageContaining("expected [epoch,first,last]");
        }
    }

    @Test
    void partsAreCountedWithoutTheBatchesThatAreSkipped() {
        try (FeedClient feed =
                skipping(feeder.client().steps(s -> s.epochBatches(4))).open()) {
            List<String> first = STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0, SKIP);
            assertThat(read(feed)).isEqualTo(first.subList(0, 4));
            assertThat(read(feed)).isEqualTo(first.subList(4, 8));
            feed.setEpoch(1); // the second part of epoch 0
            assertThat(feed.state()).contains("\"epoch\":0,\"batch\":7,");
            feed.setEpoch(4); // the second part of epoch 1, after three parts of epoch 0
            assertThat(feed.state()).contains("\"epoch\":1,\"batch\":6,");
        }
    }

    @Test
    void batchesGoBeyondEpochsThatAreSkipped() {
        try (FeedClient feed = feeder.client()
                .steps(s -> s.skip(0, 0, 99).skip(1, 0, 99).skip(2, 0, 99))
                .open()) {
            assertThat(feed.batches().iterator().next().epoch()).isEqualTo(3);
        }
    }

    @Test
    void wrongRangesAreRefused() {
        assertThatThrownBy(() -> feeder.client().steps(s -> s.skip(0, 3, 2))).hasMessageContaining("cannot be skipped");
        assertThatThrownBy(() -> feeder.client().steps(s -> s.skip(0, 40, 41)).open())
                .hasMessageContaining("skip: epoch 0 has 13 batches, so it has no batches 40 to 41");
    }
}
