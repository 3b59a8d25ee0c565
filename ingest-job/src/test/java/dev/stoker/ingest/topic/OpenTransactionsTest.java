package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class OpenTransactionsTest {
    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private final OpenTransactions open = new OpenTransactions();

    private void look(Map<Integer, Long> readable, Map<Integer, Long> written, long nowNs) {
        open.look(new TreeMap<>(readable), new TreeMap<>(written), nowNs);
    }

    @Test
    void tellsWhatIsHiddenAndWhere() {
        look(Map.of(0, 3L, 1, 7L, 2, 4L), Map.of(0, 5L, 1, 7L, 2, 5L), 0);
        assertThat(open.now())
                .hasValueSatisfying(text -> assertThat(text)
                        .contains("2 in partition 0 from offset 3 on, 1 in partition 2 from offset 4 on")
                        .contains("kafka-transactions.sh find-hanging"));
        look(Map.of(0, 5L, 1, 7L, 2, 5L), Map.of(0, 5L, 1, 7L, 2, 5L), 1);
        assertThat(open.now()).isEmpty();
    }

    @Test
    void tellsOfARunningIngestOnlyTransactionsThatLast() {
        look(Map.of(0, 3L), Map.of(0, 5L), 0);
        look(Map.of(0, 4L), Map.of(0, 6L), MINUTE / 2);
        look(Map.of(0, 4L), Map.of(0, 9L), MINUTE);
        assertThat(open.lasting(MINUTE)).as("another transaction").isEmpty();
        look(Map.of(0, 4L), Map.of(0, 9L), MINUTE * 3 / 2);
        assertThat(open.lasting(MINUTE * 3 / 2))
                .hasValueSatisfying(text -> assertThat(text).contains("5 in partition 0 from offset 4 on"));
    }
}
