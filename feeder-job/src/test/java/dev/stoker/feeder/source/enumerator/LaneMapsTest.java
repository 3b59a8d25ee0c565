package dev.stoker.feeder.source.enumerator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.feeder.source.event.ServerEvent;
import dev.stoker.schemas.protocol.LaneMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class LaneMapsTest {

    private static final List<StreamLanes> STREAMS = List.of(new StreamLanes("train", 4));

    private final LaneMaps maps = new LaneMaps(1000, new NoHint());
    private final Map<Integer, ServerEvent> servers = new TreeMap<>(Map.of(0, server("a:1"), 1, server("b:1")));

    private static ServerEvent server(String address) {
        return ServerEvent.of(address, null, Optional.empty(), 100, 0);
    }

    @Test
    void sayingAMapAgainMakesItNoNewer() {
        LaneMap first = maps.next(STREAMS, Map.of("train/0", 1), servers).get("train");
        assertThat(maps.again(STREAMS, Map.of("train/0", 1), servers).get("train"))
                .isEqualTo(first);
        assertThat(first.lanes().get(0).get(0)).isEqualTo(1);
    }

    @Test
    void whateverHasChangedMakesANewerMap() {
        LaneMap first = maps.next(STREAMS, Map.of("train/0", 1), servers).get("train");
        LaneMap moved = maps.again(STREAMS, Map.of("train/0", 0), servers).get("train");
        assertThat(moved).isGreaterThan(first);
        servers.remove(1);
        LaneMap fewer = maps.again(STREAMS, Map.of("train/0", 0), servers).get("train");
        assertThat(fewer).isGreaterThan(moved);
        assertThat(fewer.addresses()).containsExactly("a:1");
    }

    @Test
    void aServerThatReturnsMakesANewerMapAlthoughItLooksTheSame() {
        LaneMap first = maps.next(STREAMS, Map.of(), servers).get("train");
        assertThat(maps.next(STREAMS, Map.of(), servers).get("train")).isGreaterThan(first);
    }

    @Test
    void mapsOfACoordinatorWhoseClockIsBehindAreNewerThanThoseThatServersHave() {
        LaneMap before = maps.next(STREAMS, Map.of(), servers).get("train");
        LaneMaps restarted = new LaneMaps(before.startMs() - 500, new NoHint());
        restarted.follow(before.startMs());
        LaneMap after = restarted.next(STREAMS, Map.of(), servers).get("train");
        assertThat(after).isGreaterThan(before);
        restarted.follow(after.startMs());
        assertThat(restarted.again(STREAMS, Map.of(), servers).get("train"))
                .as("a server that has this coordinator's own maps changes nothing")
                .isEqualTo(after);
    }

    @Test
    void mapsOfACoordinatorThatStartsInTheSameMillisecondAreNewer() {
        maps.next(STREAMS, Map.of(), servers);
        LaneMap before = maps.next(STREAMS, Map.of(), servers).get("train");
        LaneMaps restarted = new LaneMaps(before.startMs(), new NoHint());
        restarted.follow(before.startMs());
        assertThat(restarted.next(STREAMS, Map.of(), servers).get("train")).isGreaterThan(before);
    }

    private static final class NoHint implements LaneMaps.Hint {
        @Override
        public boolean takeStopRequest() {
            return false;
        }

        @Override
        public void publish(Map<String, LaneMap> maps, List<String> statusUrls, boolean complete) {}

        @Override
        public void withdraw(boolean ended) {}
    }
}
