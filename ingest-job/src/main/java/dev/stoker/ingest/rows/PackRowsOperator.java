package dev.stoker.ingest.rows;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Packs rows that Flink has sorted by the hash of their key. Rows of one hash arrive together, so a key that occurs
 * twice, or that the dataset already has, is found here. Runs on the task's thread.
 */
final class PackRowsOperator extends AbstractStreamOperator<PackReport>
        implements OneInputStreamOperator<HashedRow, PackReport>, BoundedOneInput {
    private static final long serialVersionUID = 1;

    private final RowWork work;

    private transient ObjectStore store;
    private transient SkipCounts skipped;
    private transient LeftOut leftOut;
    private transient RowChunks chunks;
    private transient Optional<IngestMeter> meter;
    /** Rows of one hash; nearly always one. */
    private transient List<HashedRow> same;

    PackRowsOperator(RowWork work) {
        this.work = work;
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
        same = new ArrayList<>();
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
            if (!same.isEmpty() && same.get(0).hash() != row.hash()) {
                flush();
            }
            same.add(row);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void flush() throws IOException, InterruptedException {
        for (int i = 1; i < same.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (Arrays.equals(same.get(i).key(), same.get(j).key())) {
                    refuse(same.get(i), same.get(j));
                }
            }
        }
        for (HashedRow row : same) {
            if (row.kind() == HashedRow.Kind.ROW) {
                add(row);
            }
        }
        same.clear();
    }

    private static void refuse(HashedRow one, HashedRow other) {
        boolean isOld = one.kind() == HashedRow.Kind.TAKEN;
        boolean isOtherOld = other.kind() == HashedRow.Kind.TAKEN;
        if (isOld && isOtherOld) {
            // Both keys are in the dataset, so this ingest did not cause the duplicate.
            return;
        }
        String key = new String(one.key(), StandardCharsets.UTF_8);
        throw new SuppressRestartsException(
                isOld || isOtherOld
                        ? TakenKeyException.inDataset(key, "an earlier version")
                        : TakenKeyException.twice(key));
    }

    private void add(HashedRow row) throws IOException, InterruptedException {
        RowBytes.Reader values = new RowBytes.Reader(row.data());
        try {
            chunks.add(row.key(), row.split(), row.data().length, (mapped, sink) -> {
                try {
                    values.next(sink);
                } catch (BadValueException e) {
                    throw new BadValueException(
                            "column " + work.mapping().fields().get(mapped).column() + ": " + e.getMessage());
                }
            });
        } catch (BadValueException e) {
            leftOut.row(new String(row.key(), StandardCharsets.UTF_8), e);
            return;
        }
        chunks.report(getRuntimeContext().getTaskInfo().getIndexOfThisSubtask());
        meter.ifPresent(m -> m.packed(1, row.data().length, 0));
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
        output.collect(new StreamRecord<>(RowReport.done(
                work, getRuntimeContext().getTaskInfo(), chunks.chunks(), chunks.classes(), skipped, leftOut)));
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
