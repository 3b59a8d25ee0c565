package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LaneAssignerTest {

    private static final List<String> LANES =
            IntStream.range(0, 64).mapToObj(i -> "train/" + i).toList();

    private static Map<Integer, String> hosts(int count) {
        return IntStream.range(0, count)
                .boxed()
                .collect(Collectors.toMap(i -> i, i -> "host" + i, (a, b) -> a, TreeMap::new));
    }

    @Test
    void givesEveryReaderItsShare() {
        Map<String, Integer> chosen = LaneAssigner.assign(LANES, hosts(4), Map.of());
        assertThat(chosen.keySet()).containsExactlyInAnyOrderElementsOf(LANES);
        assertThat(chosen.values().stream()
                        .collect(Collectors.groupingBy(r -> r, Collectors.counting()))
                        .values())
                .containsOnly(16L);
    }

    @Test
    void givesNothingToAFullReader() {
        Map<String, Integer> chosen = LaneAssigner.assign(LANES.subList(0, 4), hosts(2), Map.of(0, 4));
        assertThat(chosen.values()).containsOnly(1);
    }

    @Test
    void moveMostlyTheLanesOfAHostThatGoes() {
        Map<Integer, String> four = hosts(4);
        Map<Integer, String> three = hosts(4);
        three.remove(2);
        long moved = LANES.stream()
                .filter(lane -> LaneAssigner.preference(lane, four).get(0) != 2)
                .filter(lane -> !LaneAssigner.preference(lane, four)
                        .get(0)
                        .equals(LaneAssigner.preference(lane, three).get(0)))
                .count();
        assertThat(moved).isZero();
    }

    @Test
    void spreadsPreferencesOverReadersOfOneHost() {
        Map<Integer, String> one = new TreeMap<>(Map.of(0, "a", 1, "a", 2, "a", 3, "a"));
        Map<Integer, Long> first = LANES.stream()
                .collect(Collectors.groupingBy(
                        lane -> LaneAssigner.preference(lane, one).get(0), Collectors.counting()));
        assertThat(first).hasSize(4);
    }
}
