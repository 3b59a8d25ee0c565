package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.PathBundleSerializer;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.source.reader.ShuffledBundler;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.BlockReader;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.rows.read.LeftOut;
import dev.stoker.ingest.rows.read.RowMapping;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowScan;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.ingest.rows.read.SizeSink;
import dev.stoker.ingest.rows.source.SourceFile;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;

/**
 * Packs the rows of runs in the order of the source. The run determines the place of a chunk in the version, so
 * tasks may finish in any order. Runs on the task's thread.
 */
public final class PackRunsOperator extends AbstractStreamOperator<PackReport>
        implements OneInputStreamOperator<RowRun, PackReport>, BoundedOneInput {
    /** Takes the keys of the rows, if they must be checked. */
    public static final OutputTag<PathBundle> KEYS = new OutputTag<>("keys", PathBundleSerializer.TYPE);

    private static final long serialVersionUID = 1;
    private static final long[] NO_SIDECARS = {};
    /** Rows that are counted together. */
    private static final int METERED_ROWS = 256;

    private final RowWork work;
    private final boolean isChecking;

    private transient ObjectStore store;
    private transient SkipCounts skipped;
    private transient LeftOut leftOut;
    private transient RowScan scan;
    private transient RowChunks chunks;
    private transient Optional<RowBlocks> blocks;
    private transient SizeSink size;
    private transient int[] payload;
    private transient ShuffledBundler keys;
    private transient Optional<IngestMeter> meter;
    private transient int packedRows;
    private transient long packedBytes;

    /** @param isChecking whether to emit {@link #KEYS} */
    public PackRunsOperator(RowWork work, boolean isChecking) {
        this.work = work;
        this.isChecking = isChecking;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        store = work.access().store().open(work.target());
        skipped = new SkipCounts();
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        leftOut = new LeftOut(
                work.errors(), skipped, lines -> output.collect(new StreamRecord<>(new PackReport.Skips(task, lines))));
        scan = new RowScan(work, leftOut);
        chunks = new RowChunks(work, store, report -> output.collect(new StreamRecord<>(report)));
        blocks = isChecking ? Optional.empty() : RowBlocks.of(work);
        size = new SizeSink();
        payload = payload(work);
        keys = new ShuffledBundler(
                0, PathBundle.Kind.FILES, bundle -> output.collect(KEYS, new StreamRecord<>(bundle)));
        meter = IngestMeter.find(work.ingest());
        meter.ifPresent(IngestMeter::started);
    }

    /** Returns the mapped fields whose size decides whether a chunk has room for a row. */
    public static int[] payload(RowWork work) throws IOException {
        Set<String> names =
                work.info().payloadFields().stream().map(Field::name).collect(Collectors.toSet());
        return IntStream.range(0, work.mapping().fields().size())
                .filter(i -> names.contains(work.mapping().fields().get(i).field()))
                .toArray();
    }

    @Override
    public void processElement(StreamRecord<RowRun> element) throws Exception {
        RowRun run = element.getValue();
        meter.ifPresent(IngestMeter::packing);
        try {
            scan.scan(run, this::add, blocks.map(b -> (file, block, bound, rows) -> add(b, file, block, bound, rows)));
            chunks.end(run.number());
            count();
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void add(byte[] key, String split) throws BadValueException, IOException, InterruptedException {
        size.begin();
        for (int mapped : payload) {
            scan.value(mapped, size);
        }
        chunks.add(key, split, size.bytes(), scan::value);
        if (isChecking) {
            keys.add("", key, key.length, 0, scan.place(), NO_SIDECARS);
        }
        packedBytes += size.bytes();
        packedRows++;
        if (packedRows == METERED_ROWS) {
            count();
        }
    }

    private void add(RowBlocks from, SourceFile file, BlockReader block, RowMapping.Bound bound, int rows)
            throws BadValueException, IOException, InterruptedException {
        chunks.add(from.rows(file, block, bound, rows), rows, file.split());
        packedRows += rows;
        count();
    }

    private void count() {
        meter.ifPresent(m -> m.packed(packedRows, packedBytes, 0));
        packedRows = 0;
        packedBytes = 0;
    }

    @Override
    public void endInput() throws Exception {
        keys.flush();
        try {
            // Each run has ended, so the chunks have places.
            chunks.flush(0);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
        skipped.addAll(FileSkip.EXCLUDED, scan.excluded());
        output.collect(
                new StreamRecord<>(RowReport.done(work, getRuntimeContext().getTaskInfo(), chunks, skipped, leftOut)));
    }

    @Override
    public void close() throws Exception {
        try {
            if (chunks != null) {
                chunks.close();
            }
        } finally {
            IOUtils.closeAll(scan, store, super::close);
        }
    }
}
