package dev.stoker.cli.feed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.audit.RequiredEpochs;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.audit.report.BatchRange;
import dev.stoker.metadata.audit.report.EpochBatches;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class AuditTextTest {
    private static final EpochBatches NONE = new EpochBatches(0, List.of());
    private static final String ORDER =
            "{\"function\":1,\"seed\":7,\"batch_size\":4,\"lanes\":3,\"shuffle_window\":10000,"
                    + "\"shuffle\":\"window\",\"lane_order\":\"mixed\"}";

    /** Acknowledged batches of ten, by epoch; the others are open. */
    private static List<AuditReport.Epoch> epochs(long... acknowledged) {
        List<AuditReport.Epoch> epochs = new ArrayList<>();
        for (long count : acknowledged) {
            EpochBatches open = count == 10 ? NONE : new EpochBatches(10 - count, List.of(new BatchRange(count, 9)));
            epochs.add(new AuditReport.Epoch(
                    epochs.size(), 1 + epochs.size() / 3, 10, count, 0, NONE, 0, NONE, open, 0, 0, List.of()));
        }
        return epochs;
    }

    private static AuditReport report(boolean follows, long... acknowledged) {
        AuditReport.Pass pass = new AuditReport.Pass(
                "feed",
                "train",
                "default",
                0,
                "id",
                1,
                "train",
                ORDER,
                follows ? "" : "f",
                10,
                List.of(1L),
                epochs(acknowledged));
        return new AuditReport(1, 1, 1, 0, List.of(pass), List.of(), Map.of());
    }

    private static List<String> lines(AuditReport report, RequiredEpochs required) {
        StringWriter text = new StringWriter();
        AuditText.print(report, required, "here", new PrintWriter(text));
        return text.toString().lines().filter(line -> line.startsWith("  ")).toList();
    }

    @Test
    void equalEpochsShareALine() {
        assertThat(lines(report(false, 10, 10, 10, 7, 10, 10, 3), RequiredEpochs.NONE))
                .containsExactly(
                        "  epochs 0 to 2: 10 of 10 batches exactly once",
                        "  epoch 3: 7 of 10 batches, 3 open (7 to 9)",
                        "  epochs 4 to 5: 10 of 10 batches exactly once",
                        "  epoch 6: 3 of 10 batches, 7 open (3 to 9)");
    }

    @Test
    void epochsOfDifferentVersionsDiffer() {
        assertThat(lines(report(true, 10, 10, 10, 10), RequiredEpochs.NONE))
                .containsExactly(
                        "  epochs 0 to 2 (version 1): 10 of 10 batches exactly once",
                        "  epoch 3 (version 2): 10 of 10 batches exactly once");
    }

    @Test
    void anEpochThatWasOnlyAskedForIsNotPrinted() {
        assertThat(lines(report(false, 10, 10, 0), RequiredEpochs.NONE))
                .containsExactly("  epochs 0 to 1: 10 of 10 batches exactly once");
        assertThat(lines(report(false, 0), RequiredEpochs.NONE)).containsExactly("  epoch 0: nothing acknowledged yet");
        assertThat(lines(report(false), RequiredEpochs.NONE)).isEmpty();
        assertThat(lines(report(false, 10, 0, 0, 0), RequiredEpochs.ofAll(3)))
                .containsExactly(
                        "  epoch 0: 10 of 10 batches exactly once", "  epochs 1 to 2: nothing acknowledged yet");
    }

    @Test
    void jsonHasEachEpoch() {
        assertThat(AuditText.json(report(false, 10, 10, 0), "here")
                        .path("passes")
                        .get(0)
                        .path("epochs"))
                .hasSize(3);
    }
}
