package dev.stoker.metadata.index;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.index.build.HeadRows;
import dev.stoker.metadata.index.build.RowMerge;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.index.run.IndexRuns;
import dev.stoker.metadata.index.run.RunCursor;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongConsumer;

/** Compares the index of a version with the heads of all its chunks. Reads every byte of the runs. Not thread-safe. */
public final class IndexCheck {

    /** Further differences are counted, but not described. */
    private static final int MOST_DESCRIBED = 100;

    private final Dataset dataset;
    private final ChunkTable table;
    private final LongConsumer progress;
    private final List<String> problems = new ArrayList<>();
    private long differences;
    private long checked;

    /**
     * @param progress receives the number of samples read since its last call
     */
    public IndexCheck(Dataset dataset, Snapshot snapshot, LongConsumer progress) {
        this.dataset = dataset;
        this.table = snapshot.table();
        this.progress = progress;
    }

    /**
     * Reports a check.
     *
     * @param version the version
     * @param runs number of intact runs of the version
     * @param samples samples that were compared
     * @param chunksWithoutRun live chunks that no intact run covers; readers use their heads
     * @param differences number of damaged runs, and of samples that the index lacks, has wrong or has too many
     * @param problems descriptions of the first differences
     */
    public record Report(
            long version, int runs, long samples, int chunksWithoutRun, long differences, List<String> problems) {
        public Report {
            problems = List.copyOf(problems);
        }
    }

    /** Runs the check. */
    public Report run() throws IOException {
        List<SampleRun> runs = new ArrayList<>();
        List<IndexRange> ranges = new ArrayList<>(IndexRuns.list(dataset.store()));
        ranges.removeAll(IndexRange.superseded(ranges));
        for (IndexRange range : ranges) {
            if (range.first() <= table.version()) {
                open(range, runs);
            }
        }
        IndexView view = new IndexView(table, null, runs);
        int[] uncovered = view.uncovered();
        for (int chunk = 0; chunk < table.size(); chunk++) {
            if (table.isLive(chunk) && Arrays.binarySearch(uncovered, chunk) < 0) {
                compare(view, chunk);
            }
        }
        long live = 0;
        try (RowMerge rows =
                new RowMerge(view.runs().stream().map(RunCursor::new).toList())) {
            while (rows.next()) {
                int chunk = table.indexOf(rows.row().ordinal());
                live += chunk >= 0 && table.isLive(chunk, rows.row().row()) ? 1 : 0;
            }
        }
        if (live != checked) {
            differ("The index has " + live + " samples of version " + table.version() + ", the chunks have " + checked);
        }
        return new Report(table.version(), view.runs().size(), checked, uncovered.length, differences, problems);
    }

    private void open(IndexRange range, List<SampleRun> runs) throws IOException {
        try {
            SampleRun run = IndexRuns.open(dataset, table, range);
            run.verifyAll();
            runs.add(run);
        } catch (NoSuchObjectException e) {
            // A build has superseded it since it was listed.
        } catch (StokerException e) {
            differ(ErrorText.of(e));
        }
    }

    private void compare(IndexView view, int chunk) throws IOException {
        ChunkHead head = ChunkHeads.readStored(dataset.store(), table, chunk);
        HeadRows rows = new HeadRows();
        for (int row = 0; row < head.rows(); row++) {
            if (table.isLive(chunk, row)) {
                checked++;
                IndexedRow expected = rows.row(head, table.ordinal(chunk), row);
                IndexView.Found found = view.find(SampleIndex.bytes(head.key(row)));
                if (found == null || !found.place().equals(expected)) {
                    differ("Sample '" + head.key(row) + "' is in row " + row + " of chunk " + table.ordinal(chunk)
                            + ": expected " + expected + ", found " + (found == null ? "nothing" : found.place()));
                }
            }
        }
        progress.accept(head.rows());
    }

    private void differ(String problem) {
        differences++;
        if (problems.size() < MOST_DESCRIBED) {
            problems.add(problem);
        }
    }
}
