package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.pack.MissingClasses;
import dev.stoker.ingest.pack.SkipNotes;
import dev.stoker.ingest.rows.read.LeftOut;
import dev.stoker.ingest.rows.read.RowWork;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.TaskInfo;

/** The last report of a packing task. */
final class RowReport {
    private RowReport() {}

    /**
     * Returns the report. The first task adds the counts of the plan.
     *
     * @param chunks all that the task has written
     * @param skipped counts of rows that the task left out
     * @param leftOut lists it
     */
    static PackReport.Done done(RowWork work, TaskInfo task, RowChunks chunks, SkipCounts skipped, LeftOut leftOut) {
        if (task.getIndexOfThisSubtask() == 0) {
            work.omitted().unreadable().forEach(leftOut::file);
            skipped.addAll(FileSkip.EXCLUDED_FILE, work.omitted().files());
            skipped.addAll(FileSkip.EXCLUDED, work.omitted().rows());
        }
        leftOut.flush();
        Map<String, Long> notes = MissingClasses.notes(chunks.classes().missing());
        Map<String, String> examples = new TreeMap<>();
        skipped.byReason().forEach((reason, count) -> {
            notes.put(reason.note(), count);
            String name = reason.name().toLowerCase(Locale.ROOT);
            skipped.example(reason).ifPresent(example -> examples.put(SkipNotes.EXAMPLE_PREFIX + name, example));
        });
        return new PackReport.Done(
                task.getIndexOfThisSubtask(),
                task.getNumberOfParallelSubtasks(),
                chunks.chunks(),
                chunks.classes().names(),
                notes,
                examples);
    }
}
