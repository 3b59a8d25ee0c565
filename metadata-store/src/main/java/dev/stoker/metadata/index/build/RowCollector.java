package dev.stoker.metadata.index.build;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.index.run.RowCursor;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the heads of chunks in parallel, and sorts their rows. Each thread has a buffer; full buffers are sorted and
 * written to temporary files.
 */
final class RowCollector {

    private final Dataset dataset;
    private final ChunkTable table;
    private final BuildThreads threads;
    private final Scratch scratch;
    private final LongConsumer progress;

    /**
     * @param table chunk table of the newest version that the rows are for
     * @param progress receives the number of rows read since its last call, from any of the threads
     */
    RowCollector(Dataset dataset, ChunkTable table, BuildThreads threads, Scratch scratch, LongConsumer progress) {
        this.dataset = dataset;
        this.table = table;
        this.threads = threads;
        this.scratch = scratch;
        this.progress = progress;
    }

    /**
     * Returns cursors over all rows of these chunks. Leaves out chunks that were removed and whose files do not exist
     * any more.
     *
     * @param chunks indices of the chunk table
     * @throws InterruptedException if interrupted; the threads then stop after their chunk
     */
    List<RowCursor> collect(int[] chunks) throws IOException, InterruptedException {
        AtomicInteger next = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        List<FutureTask<List<RowCursor>>> tasks = new ArrayList<>();
        for (int t = 0; t < Math.min(threads.count(), chunks.length); t++) {
            FutureTask<List<RowCursor>> task = new FutureTask<>(() -> read(chunks, next, stop));
            tasks.add(task);
            threads.executor().execute(task);
        }
        List<RowCursor> cursors = new ArrayList<>();
        IOException failure = null;
        for (FutureTask<List<RowCursor>> task : tasks) {
            try {
                cursors.addAll(task.get());
            } catch (ExecutionException e) {
                // The others stop after their chunk; the temporary files are deleted after all of them have ended.
                stop.set(true);
                failure = failure == null ? failure(e.getCause()) : failure;
            } catch (InterruptedException e) {
                stop.set(true);
                tasks.forEach(other -> other.cancel(true));
                throw e;
            }
        }
        if (failure != null) {
            throw failure;
        }
        return cursors;
    }

    private static IOException failure(@Nullable Throwable cause) {
        return cause instanceof IOException e
                ? e
                : new IOException("Cannot read the heads of the chunks: " + cause, cause);
    }

    private List<RowCursor> read(int[] chunks, AtomicInteger next, AtomicBoolean stop) throws IOException {
        RowBuffer buffer = new RowBuffer();
        HeadRows rows = new HeadRows();
        List<RowCursor> cursors = new ArrayList<>();
        for (int n = next.getAndIncrement(); n < chunks.length && !stop.get(); n = next.getAndIncrement()) {
            progress.accept(rows.addTo(buffer, dataset.store(), table, chunks[n]));
            if (buffer.bytes() > threads.memoryBytes() / threads.count()) {
                Path file = scratch.newFile();
                SortedRows.write(buffer.sorted(), file);
                cursors.add(SortedRows.read(file));
                buffer.clear();
            }
        }
        if (!buffer.isEmpty()) {
            cursors.add(buffer.sorted());
        }
        return cursors;
    }
}
