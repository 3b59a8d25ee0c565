package dev.stoker.client.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.client.FeedReport;
import dev.stoker.client.transport.PageReads;
import dev.stoker.schemas.protocol.Delay;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WaitsTest {
    private static final String FEEDER = "10.0.0.1:7420";
    private static final long MS = 1_000_000;

    private final Waits waits = new Waits();

    private static Waits.Name batch(long number) {
        return new Waits.Name(0, number);
    }

    private static Delay delay(long number, long originMs, long diskMs, long feederMs) {
        return new Delay(1, 0, number, 0, originMs * 1000, diskMs * 1000, feederMs * 1000);
    }

    private static FeedStats.Stall stall(String cause, long ms, long times) {
        return new FeedStats.Stall(cause, FEEDER, 2, Duration.ofMillis(ms), times);
    }

    @Test
    void aWaitIsDividedByWhatTheFeederSaysOfItWhicheverComesFirst() {
        waits.add("network", FEEDER, 2, batch(1), 100 * MS);
        waits.explain(delay(1, 30, 60, 0));
        waits.explain(delay(2, 30, 60, 0));
        waits.add("network", FEEDER, 2, batch(2), 100 * MS);
        assertThat(waits.stalls())
                .containsExactlyInAnyOrder(stall("disk", 120, 2), stall("origin", 60, 0), stall("network", 20, 0));
        assertThat(waits.causes().keySet()).containsExactly("disk", "origin", "network");
    }

    @Test
    void noMoreIsBlamedThanWasWaited() {
        waits.explain(delay(1, 500, 60, 500));
        waits.add("start", FEEDER, 2, batch(1), 100 * MS);
        assertThat(waits.causes()).isEqualTo(Map.of("disk", Duration.ofMillis(60), "origin", Duration.ofMillis(40)));
    }

    @Test
    void theDelaysOfSeveralPiecesAddUp() {
        waits.explain(delay(1, 0, 20, 0));
        waits.explain(delay(1, 0, 30, 0));
        waits.add("network", FEEDER, 2, batch(1), 100 * MS);
        waits.explain(delay(1, 0, 0, 10));
        waits.readFromDisk(batch(1), 5 * MS);
        assertThat(waits.causes())
                .isEqualTo(Map.of(
                        "disk", Duration.ofMillis(55),
                        "feeder", Duration.ofMillis(10),
                        "network", Duration.ofMillis(35)));
    }

    @Test
    void whatIsKnownCloserStays() {
        waits.explain(delay(1, 0, 50, 0));
        waits.add("connect", FEEDER, 2, batch(1), 100 * MS);
        waits.add("corrupt", FEEDER, 2, batch(1), 20 * MS);
        assertThat(waits.stalls()).containsExactly(stall("connect", 100, 1), stall("corrupt", 20, 1));
    }

    @Test
    void whatIsRememberedIsBounded() {
        for (int number = 0; number < 1000; number++) {
            waits.explain(delay(number, 0, 50, 0));
        }
        for (int number = 0; number < 1000; number++) {
            waits.add("network", FEEDER, 2, batch(number), 50 * MS);
        }
        assertThat(waits.causes()).containsEntry("disk", Duration.ofMillis(256 * 50));
    }

    @Test
    void readsThatWentToADiskAreToldFromSlowOnes() {
        Deque<Long> times = new ArrayDeque<>();
        Deque<Long> bytes = new ArrayDeque<>();
        PageReads reads = new PageReads(bytes::remove, times::remove);
        for (long ns : List.of(5 * MS, 5 * MS, 6 * MS, 1000L)) {
            times.addAll(List.of(0L, ns));
        }
        bytes.addAll(List.of(100L, 100L, 100L, 4196L, 4196L));
        long[] found = new long[4];
        for (int i = 0; i < found.length; i++) {
            reads.begin();
            found[i] = reads.end();
        }
        // The first slow one is not known; the second was slow for another reason; the last was quick.
        assertThat(found).containsExactly(0, 0, 6 * MS, 0);
        assertThat(times).isEmpty();
        assertThat(bytes).isEmpty();
    }

    @Test
    void theReportSaysForWhomAndWhatMayHelp() {
        waits.add("network", FEEDER, 2, batch(1), 2_000 * MS);
        waits.explain(delay(1, 0, 1_800, 0));
        FeedReport report = new FeedReport(
                Map.of("rank", "1", "worker", "0", "feed", "a \"b\"\\"),
                new FeedStats(
                        10,
                        640,
                        20_000_000,
                        0,
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(2),
                        waits.causes(),
                        waits.stalls(),
                        1,
                        0,
                        3,
                        0,
                        1,
                        0));
        assertThat(report.text())
                .isEqualTo("rank 1 waited 2.0 s of 10.0 s (20 %): 1.8 s for 10.0.0.1:7420 lane 2, disk; 0.2 s for"
                        + " 10.0.0.1:7420 lane 2, network\n  10 batches, 640 samples: 64 a second, 2.0 MB/s\n  mostly"
                        + " disk: the disk of the feeder's machine is the limit: use a faster disk, more memory for"
                        + " its cache, or more feeders");
        List<String> lines = report.prometheus().lines().toList();
        assertThat(lines)
                .contains("# TYPE stoker_batches_total counter")
                .anyMatch(line -> line.startsWith("stoker_batches_total{") && line.endsWith("} 10"))
                .anyMatch(line -> line.contains("feed=\"a \\\"b\\\"\\\\\""))
                .anyMatch(line -> line.startsWith("stoker_feeder_wait_seconds_total{")
                        && line.endsWith("feeder=\"10.0.0.1:7420\",lane=\"2\",cause=\"disk\"} 1.8"))
                .anyMatch(line -> line.startsWith("stoker_reconnects_total{") && line.endsWith("} 3"));
    }
}
