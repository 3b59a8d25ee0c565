package dev.stoker.connectors.dataset.sink.writer;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.metadata.removal.RowsByChunk;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.api.connector.sink2.CommittingSinkWriter;

/**
 * The pre-commit aggregation: combines all reports into one committable. There is one such writer whatever the
 * parallelism of the packing tasks. Runs on the task's thread.
 */
public final class GatheringWriter implements CommittingSinkWriter<PackReport, IngestCommittable> {

    static final Comparator<PackReport.Chunk> ORDER =
            Comparator.comparingInt(PackReport.Chunk::task).thenComparingInt(PackReport.Chunk::number);

    private final SortedSet<PackReport.Chunk> chunks = new TreeSet<>(ORDER);
    private final Map<Integer, PackReport.Done> done = new TreeMap<>();
    private final RowsByChunk removed = new RowsByChunk();
    private final LeftOutFile skips;
    private boolean gathered;

    /** @param skips the list of skipped samples; {@link #close} closes it */
    public GatheringWriter(LeftOutFile skips) {
        this.skips = skips;
    }

    @Override
    public void write(PackReport report, Context context) throws IOException {
        add(report);
    }

    /** Takes a report. */
    void add(PackReport report) throws IOException {
        if (report instanceof PackReport.Chunk chunk) {
            if (!chunks.add(chunk)) {
                throw new IllegalStateException(
                        "Chunk " + chunk.number() + " of packing task " + chunk.task() + " was reported twice");
            }
        } else if (report instanceof PackReport.Skips skipped) {
            skips.add(skipped.lines());
        } else if (report instanceof PackReport.Removed gone) {
            removed.add(gone.rows());
        } else {
            PackReport.Done last = (PackReport.Done) report;
            if (done.put(last.task(), last) != null) {
                throw new IllegalStateException("Packing task " + last.task() + " ended twice");
            }
        }
    }

    @Override
    public void flush(boolean endOfInput) {}

    @Override
    public Collection<IngestCommittable> prepareCommit() throws IOException {
        if (gathered) {
            return List.of();
        }
        check();
        gathered = true;
        UsedClasses classes = new UsedClasses();
        Map<String, Long> notes = new TreeMap<>();
        Map<String, String> examples = new TreeMap<>();
        for (PackReport.Done task : done.values()) {
            classes.add(task.classes());
            task.notes().forEach((name, count) -> notes.merge(name, count, Long::sum));
            task.examples().forEach((name, text) -> examples.merge(name, text, (a, b) -> a.compareTo(b) <= 0 ? a : b));
        }
        skips.finish().ifPresent(name -> examples.put(IngestRun.SKIP_LIST, name));
        List<ChunkSummary> inOrder =
                chunks.stream().map(PackReport.Chunk::chunk).toList();
        return List.of(new IngestCommittable(
                IngestCommittable.Part.ONLY, inOrder, removed.list(), classes.names(), notes, examples));
    }

    /** A version must never contain only some of the chunks. */
    private void check() {
        int tasks =
                done.values().stream().mapToInt(PackReport.Done::tasks).max().orElse(0);
        long announced =
                done.values().stream().mapToLong(PackReport.Done::chunks).sum();
        if (tasks == 0 || done.size() != tasks || announced != chunks.size()) {
            throw new IllegalStateException(done.size() + " of " + tasks + " packing tasks have ended with "
                    + chunks.size() + " of " + Units.plural(announced, "chunk") + "; nothing is committed");
        }
    }

    @Override
    public void close() throws IOException {
        skips.close();
    }
}
