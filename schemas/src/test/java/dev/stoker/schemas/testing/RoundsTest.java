package dev.stoker.schemas.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.testing.Rounds.Settings;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

class RoundsTest {
    private static final OptionalLong NONE = OptionalLong.empty();

    private final List<String> printed = Collections.synchronizedList(new ArrayList<>());

    private Rounds rounds(double effort, OptionalLong only, OptionalLong minimum, String... known) {
        return Rounds.of(
                "SomeTest.some",
                new Settings(effort, 123, only, minimum, 0, KnownSeeds.parse(List.of(known)), printed::add));
    }

    private Rounds rounds(double effort) {
        return rounds(effort, NONE, NONE);
    }

    @Test
    void runsTheMinimumWhateverTheBudget() {
        List<Long> ran = new ArrayList<>();
        assertThat(rounds(1).atLeast(50).run((random, round) -> ran.add(round))).isEqualTo(50);
        assertThat(ran).isEqualTo(LongStream.range(0, 50).boxed().toList());
    }

    @Test
    void runsUntilTheBudgetIsOver() {
        long begin = System.nanoTime();
        assertThat(rounds(1).seconds(0.02).atLeast(1).run((random, round) -> {}))
                .isGreaterThan(1);
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(20_000_000);
    }

    @Test
    void effortMultipliesTheBudget() {
        long begin = System.nanoTime();
        rounds(10).seconds(0.01).run((random, round) -> {});
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(100_000_000);
    }

    @Test
    void anOptionRaisesTheMinimum() {
        assertThat(rounds(1, NONE, OptionalLong.of(70)).atLeast(50).run((random, round) -> {}))
                .isEqualTo(70);
        assertThat(rounds(1, NONE, OptionalLong.of(7)).atLeast(50).run((random, round) -> {}))
                .isEqualTo(50);
    }

    @Test
    void failsIfItIsStoppedBelowTheMinimum() {
        assertThatThrownBy(() -> rounds(1).atLeast(1_000).run((random, round) -> {
                    if (round == 2) {
                        Thread.currentThread().interrupt();
                    }
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessage("SomeTest.some was stopped after 3 rounds of at least 1,000");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aRoundDependsOnSeedAndRoundAlone() {
        TreeMap<Long, Long> drawn = new TreeMap<>();
        rounds(1).atLeast(20).run((random, round) -> drawn.put(round, random.nextLong()));
        assertThat(drawn.values()).doesNotHaveDuplicates();

        List<Long> again = new ArrayList<>();
        rounds(1, OptionalLong.of(17), NONE).seconds(60).atLeast(20).run((random, round) -> {
            assertThat(round).isEqualTo(17);
            again.add(random.nextLong());
        });
        assertThat(again).containsExactly(drawn.get(17L));
        assertThat(printed).endsWith("random SomeTest.some: round 17 of seed 123 alone");
    }

    @Test
    void otherSeedsAndRoundsDrawOtherNumbers() {
        assertThat(LongStream.range(0, 100)
                        .flatMap(seed -> LongStream.range(0, 100)
                                .map(round -> TestSeed.random(seed, round).nextLong()))
                        .boxed())
                .doesNotHaveDuplicates();
    }

    @Test
    void repeatsKnownSeedsFirst() {
        List<Long> drawn = new ArrayList<>();
        long ran = rounds(
                        1,
                        NONE,
                        NONE,
                        "# test seed round",
                        "",
                        "SomeTest.some 5 9 # lost a row",
                        "SomeTest.other 5 10",
                        "SomeTest.some 6 0")
                .atLeast(2)
                .run((random, round) -> drawn.add(random.nextLong()));

        assertThat(drawn)
                .containsExactly(
                        TestSeed.random(5, 9).nextLong(),
                        TestSeed.random(6, 0).nextLong(),
                        TestSeed.random(123, 0).nextLong(),
                        TestSeed.random(123, 1).nextLong());
        assertThat(ran).isEqualTo(2);
        assertThat(printed)
                .startsWith(
                        "random SomeTest.some: known round 9 of seed 5",
                        "random SomeTest.some: known round 0 of seed 6");
    }

    @Test
    void aKnownSeedThatFailsAgainNamesItself() {
        assertThatThrownBy(() -> rounds(1, NONE, NONE, "SomeTest.some 5 9").run((random, round) -> {
                    throw new IllegalStateException("again");
                }))
                .hasMessageContaining("in round 9 of seed 5: java.lang.IllegalStateException: again")
                .hasMessageContaining("-Dtest.seed=5 -Dtest.round=9");
    }

    @Test
    void refusesKnownSeedsThatItCannotRead() {
        assertThatThrownBy(() -> KnownSeeds.parse(List.of("SomeTest.some 5")))
                .hasMessage("known-seeds.txt: 'SomeTest.some 5' is not: TEST SEED ROUND # what it found");
    }

    @Test
    void readsTheKnownSeedsOfTheClassPath() {
        assertThat(KnownSeeds.ofClassPath().of("RoundsTest.readsTheKnownSeedsOfTheClassPath"))
                .containsExactly(new KnownSeeds.Known("RoundsTest.readsTheKnownSeedsOfTheClassPath", 1, 2));
    }

    @Test
    void printsSeedRoundsAndRate() {
        rounds(1).atLeast(1_234).run((random, round) -> {});
        assertThat(printed)
                .singleElement()
                .asString()
                .matches("random SomeTest\\.some: seed 123, 1,234 rounds in \\d+\\.\\d s \\([\\d,]+/s\\)");
    }

    @Test
    void aFailureNamesSeedAndRoundAndHowToRepeatIt() {
        AssertionError cause = new AssertionError("expected 1, found 2");
        assertThatThrownBy(() -> rounds(1).atLeast(9).run((random, round) -> {
                    if (round == 4) {
                        throw cause;
                    }
                }))
                .isInstanceOf(AssertionError.class)
                .hasMessage(String.format("SomeTest.some failed in round 4 of seed 123: expected 1, found 2%n"
                        + "Repeat the round with -Dtest=SomeTest#some -Dtest.seed=123 -Dtest.round=4"))
                .hasCause(cause);
        assertThat(printed.get(0)).startsWith("random SomeTest.some: seed 123, 4 rounds");
    }

    @Test
    void aLongRunContinuesAfterAFailureAndNamesAllOfThem() {
        List<Long> ran = new ArrayList<>();
        Settings settings =
                new Settings(1, 123, NONE, OptionalLong.of(10), 100, KnownSeeds.parse(List.of()), printed::add);
        assertThatThrownBy(() -> Rounds.of("SomeTest.some", settings).run((random, round) -> {
                    ran.add(round);
                    assertThat(round).isNotIn(103L, 107L);
                }))
                .hasMessageStartingWith(
                        "rounds that failed: [103, 107]\nSomeTest.some failed in round 103 of seed 123");
        assertThat(ran).isEqualTo(LongStream.range(100, 110).boxed().toList());
    }

    @Test
    void severalWorkersRunEachRoundOnce() {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Long> ran = Collections.synchronizedList(new ArrayList<>());
        try {
            assertThat(rounds(1).atLeast(500).run(pool, 4, (random, round) -> ran.add(round)))
                    .isEqualTo(500);
            assertThat(ran)
                    .containsExactlyInAnyOrderElementsOf(
                            LongStream.range(0, 500).boxed().toList());
            assertThatThrownBy(() -> rounds(1).atLeast(500).run(pool, 4, (random, round) -> {
                        assertThat(round).isNotEqualTo(77);
                    }))
                    .hasMessageContaining("failed in round 77 of seed 123");
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void isNamedAfterTheTest(TestInfo test) {
        assertThatThrownBy(() -> Rounds.of(test).run((random, round) -> {
                    throw new IllegalStateException("wrong");
                }))
                .hasMessageStartingWith("RoundsTest.isNamedAfterTheTest failed in round 0 of seed " + TestSeed.value())
                .hasMessageContaining("-Dtest=RoundsTest#isNamedAfterTheTest ");
    }

    @Test
    void aFailedIntegrationTestIsRepeatedByFailsafe() {
        Settings settings = new Settings(1, 123, NONE, NONE, 0, KnownSeeds.parse(List.of()), printed::add);
        assertThatThrownBy(() -> Rounds.of("SomeITCase.some", settings).run((random, round) -> {
                    throw new IllegalStateException("wrong");
                }))
                .hasMessageContaining(" -Dit.test=SomeITCase#some -Dtest.seed=123 -Dtest.round=0");
    }
}
