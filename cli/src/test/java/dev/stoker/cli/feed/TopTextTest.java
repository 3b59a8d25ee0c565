package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.output.Style;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

public class TopTextTest {

    public static FeedRates.Rank rank(int rank, double share, String cause) {
        return new FeedRates.Rank(
                Integer.toString(rank),
                true,
                1024,
                share,
                share / 2,
                cause,
                cause.isEmpty() ? "" : "10.0.0.2:7420 lane 3");
    }

    public static FeedRates rates(List<FeedRates.Rank> ranks, String... problems) {
        List<FeedRates.Group> groups = ranks.isEmpty()
                ? List.of()
                : List.of(new FeedRates.Group("train", "default", 12, 3, 3600, 4000, ranks));
        FeedRates.Tier tier = new FeedRates.Tier("memory", 3 << 20, 4 << 20, 3, 1);
        return new FeedRates(12_345, 1.3e9, ranks.size(), groups, List.of(problems), List.of(tier));
    }

    private static List<String> plain(FeedRates rates) {
        return new TopText(Style.PLAIN)
                .of("photos   up 5 min   ", rates)
                .lines()
                .toList();
    }

    @Test
    void theWorstWaitDecidesWhetherDataIsTheLimit() {
        assertThat(plain(rates(List.of(rank(0, 0.004, ""), rank(1, 0.018, "disk"))))
                        .get(1))
                .isEqualTo("  Data is not the limit: no trainer waits more than 1.8 %");
        assertThat(plain(rates(List.of(rank(0, 0.004, ""), rank(1, 0.05, "network"))))
                        .get(1))
                .isEqualTo("  Data slows training a little: rank 1 waits 5.0 % of its time");
        assertThat(plain(rates(List.of(rank(0, 0.42, "disk"), rank(1, 0, "")))).get(1))
                .isEqualTo("  Data is the limit: rank 0 waits 42.0 % of its time");
        assertThat(plain(rates(List.of(rank(0, 0.42, "decoding")))).get(1))
                .startsWith("  Decoding is the limit: rank 0");
        assertThat(plain(rates(List.of(rank(0, 0.218, "start")))).get(1))
                .as("is soon over")
                .isEqualTo("  Data slows training: rank 0 waits 21.8 % of its time");
        assertThat(plain(rates(List.of(rank(0, 0.0004, "")))).get(1))
                .isEqualTo("  Data is not the limit: no trainer waits");
        assertThat(plain(rates(List.of(rank(0, -1, "")))).get(1)).contains("do not report");
        assertThat(plain(rates(List.of())).get(1)).isEqualTo("  No trainer has connected yet");
        assertThat(plain(rates(List.of(rank(0, 0, "")), "a:1 waits: the store is away")))
                .contains("  a:1 waits: the store is away", "  The feed waits for a service, or cannot be watched");
    }

    @Test
    void causesAreWordsAndSharesAreBars() {
        List<String> lines = plain(rates(List.of(rank(0, 0.002, ""), rank(1, 0.42, "disk"))));
        assertThat(lines)
                .containsSubsequence(
                        "  tier memory   ███████████████░░░░░ 3.15 MB of 4.19 MB   75.0 % hits",
                        "  train/default   version 12   epoch 3   ██████████████████░░ batch 3,600 of 4,000 (90 %)",
                        "    RANK  SAMPLES/S  WAITS                OVERALL  CAUSE                         LONGEST FOR",
                        "    1         1,024   42.0 %  ████▎░░░░░   21.0 %  disk of the feeder's machine"
                                + "  10.0.0.2:7420 lane 3",
                        "    0         1,024    0.2 %  ░░░░░░░░░░    0.1 %  none: the GPU is the limit");
    }

    /** As while a trainer is still waiting, which reports the cause afterwards. */
    @Test
    void aCauseContradictsNoVerdict() {
        List<String> lines = plain(rates(List.of(rank(1, 0.218, ""))));
        assertThat(lines.get(1)).isEqualTo("  Data slows training: rank 1 waits 21.8 % of its time");
        assertThat(lines).noneMatch(line -> line.contains("the GPU is the limit"));
        assertThat(lines).anyMatch(line -> line.matches(" +1 .*21\\.8 %.*not known yet.*"));
    }

    @Test
    void ranksAreCountedAndNotConnectionsOrWorkers() {
        List<FeedRates.Rank> ranks = new ArrayList<>();
        for (int worker = 0; worker < 4; worker++) {
            ranks.add(new FeedRates.Rank("0 worker " + worker, true, 1, 0, 0, "", ""));
            ranks.add(new FeedRates.Rank("1 worker " + worker, true, 1, 0, 0, "", ""));
        }
        ranks.add(new FeedRates.Rank("2", false, 1, 0, 0, "", ""));
        assertThat(plain(rates(ranks)).get(0)).endsWith("   2 ranks");
        assertThat(rates(ranks).json("photos").path("ranks").asLong()).isEqualTo(2);
    }

    @Test
    void trainersThatWaitLongestComeFirstAndTheRestIsFolded() {
        List<FeedRates.Rank> ranks = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            ranks.add(rank(i, i < 20 ? 0.001 * (i % 3) : i / 100.0, ""));
        }
        List<String> lines = plain(rates(ranks));
        List<String> names = lines.stream()
                .filter(line -> line.matches(" {4}\\d+ .*"))
                .map(line -> line.strip().split(" ")[0])
                .toList();
        assertThat(names).containsExactly("23", "22", "21", "20", "0", "1", "2", "3", "4", "5");
        assertThat(lines).contains("    and 14 trainers that wait less; --json shows all");
        assertThat(rates(ranks).json("photos").at("/groups/0/ranks")).hasSize(24);
    }

    @Test
    void coloursTakeNoColumns() {
        FeedRates rates = rates(List.of(rank(0, 0.42, "disk"), rank(1, 0.05, "network"), rank(2, 0, "")));
        String coloured = new TopText(Style.COLOURED).of("photos   up 5 min   ", rates);
        assertThat(coloured).contains("\033[31mData is the limit\033[0m", "\033[32mnone: the GPU is the limit\033[0m");
        assertThat(coloured.replaceAll("\033\\[[0-9;]*m", "").lines().toList()).isEqualTo(plain(rates));
        for (String line : coloured.lines().toList()) {
            String cut = Style.cut(line, 30);
            assertThat(Style.width(cut)).isEqualTo(Math.min(30, Style.width(line)));
            assertThat(cut.lastIndexOf("\033[0m")).isEqualTo(cut.lastIndexOf('\033'));
        }
    }
}
