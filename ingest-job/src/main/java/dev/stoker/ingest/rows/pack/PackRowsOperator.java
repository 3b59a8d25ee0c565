package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.rows.read.LeftOut;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.metadata.removal.RowsByChunk;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Packs rows that Flink has sorted by the hash of their key. Rows of one hash arrive together, so a key that occurs
 * twice, or that the dataset already has, is found here. Runs on the task's thread.
 */
public final class PackRowsOperator extends AbstractStreamOperator<PackReport>
        implements OneInputStreamOperator<HashedRow, PackReport>, BoundedOneInput {
    private static final long serialVersionUID = 1;

    private final RowWork work;
    private final RowRefusals refusals;

    private transient ObjectStore store;
    private transient SkipCounts skipped;
    private transient LeftOut leftOut;
    private transient RowChunks chunks;
    private transient Optional<HeldRows> held;
    private transient Optional<IngestMeter> meter;
    private transient SameHash same;
    private transient RowsByChunk replaced;

    public PackRowsOperator(RowWork work, RowRefusals refusals) {
        this.work = work;
        this.refusals = refusals;
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
        chunks = new RowChunks(work, store, report -> output.collect(new StreamRecord<>(report)));
        held = HeldRows.find(work.ingest());
        same = new SameHash(work.onDuplicate(), refusals, skipped);
        replaced = new RowsByChunk();
        meter = IngestMeter.find(work.ingest());
    }

    @Override
    public void processElement(StreamRecord<HashedRow> element) throws Exception {
        HashedRow row = element.getValue();
        if (row.kind() == HashedRow.Kind.COUNTS) {
            skipped.add(SkipCounts.fromBytes(row.data()));
            return;
        }
        if (row.kind() == HashedRow.Kind.SKIPS) {
            int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
            output.collect(
                    new StreamRecord<>(new PackReport.Skips(task, new String(row.data(), StandardCharsets.UTF_8))));
            return;
        }
        meter.ifPresent(IngestMeter::packing);
        try {
            if (!same.accepts(row)) {
                flush();
            }
            same.add(row);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void flush() throws IOException, InterruptedException {
        same.drain((row, stored) -> {
            // The sample of a row that was left out stays.
            if (add(row) && stored != null) {
                replaced.add(stored.ordinal(), stored.row());
            }
        });
    }

    /** Returns whether the row is a sample of a chunk. */
    private boolean add(HashedRow row) throws IOException, InterruptedException {
        ByteBuffer data = values(row);
        int length = data.remaining();
        RowBytes.Reader values = new RowBytes.Reader(data);
        try {
            chunks.add(row.key(), row.split(), length, (mapped, sink) -> {
                try {
                    values.next(sink);
                } catch (BadValueException e) {
                    throw new BadValueException(
                            "column " + work.mapping().fields().get(mapped).column() + ": " + e.getMessage());
                }
            });
        } catch (BadValueException e) {
            leftOut.row(new String(row.key(), StandardCharsets.UTF_8), e);
            return false;
        }
        chunks.report(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
        meter.ifPresent(m -> m.packed(1, length, 0));
        return true;
    }

    private ByteBuffer values(HashedRow row) {
        if (row.kind() == HashedRow.Kind.ROW) {
            return ByteBuffer.wrap(row.data());
        }
        return held.orElseThrow(() -> new IllegalStateException("the values of the row are in another process"))
                .get(HeldRows.Place.of(row.data()));
    }

    @Override
    public void endInput() throws Exception {
        try {
            flush();
            chunks.flush(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        replaced.list().forEach(rows -> output.collect(new StreamRecord<>(new PackReport.Removed(task, rows))));
        PackReport.Done done = RowReport.done(work, getRuntimeContext().getTaskInfo(), chunks, skipped, leftOut);
        meter.ifPresent(m -> m.skipped(skipped));
        output.collect(new StreamRecord<>(done));
    }

    @Override
    public void close() throws Exception {
        try {
            if (chunks != null) {
                chunks.close();
            }
        } finally {
            IOUtils.closeAll(store, super::close);
        }
    }
}
