package dev.stoker.ingest.rows;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.pack.SkipNotes;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import org.apache.flink.api.common.TaskInfo;

/** The last report of a packing task. */
final class RowReport {
    private RowReport() {}

    static PackReport.Done done(
            TaskInfo task, int chunks, SortedMap<String, SortedSet<String>> classes, SkipCounts skipped) {
        Map<String, Long> notes = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        skipped.byReason().forEach((reason, count) -> {
            String name = reason.name().toLowerCase(Locale.ROOT);
            notes.put(SkipNotes.COUNT_PREFIX + name, count);
            examples.put(
                    SkipNotes.EXAMPLE_PREFIX + name, skipped.example(reason).orElse(""));
        });
        return new PackReport.Done(
                task.getIndexOfThisSubtask(), task.getNumberOfParallelSubtasks(), chunks, classes, notes, examples);
    }
}
