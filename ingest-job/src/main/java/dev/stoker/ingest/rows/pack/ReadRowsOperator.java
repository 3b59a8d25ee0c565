package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.files.FileSkip;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.formats.BadValueException;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.rows.read.LeftOut;
import dev.stoker.ingest.rows.read.RowRun;
import dev.stoker.ingest.rows.read.RowScan;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.order.KeyHash;
import java.io.IOException;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** Reads the rows of runs for the sort. Runs on the task's thread. */
public final class ReadRowsOperator extends AbstractStreamOperator<HashedRow>
        implements OneInputStreamOperator<RowRun, HashedRow>, BoundedOneInput {
    private static final long serialVersionUID = 1;

    private final RowWork work;

    private transient SkipCounts skipped;
    private transient LeftOut leftOut;
    private transient RowScan scan;
    private transient RowBytes bytes;
    private transient FieldType[] types;
    private transient Optional<IngestMeter> meter;

    public ReadRowsOperator(RowWork work) {
        this.work = work;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        skipped = new SkipCounts();
        leftOut = new LeftOut(
                work.errors(), skipped, lines -> output.collect(new StreamRecord<>(HashedRow.skips(lines))));
        scan = new RowScan(work, leftOut);
        bytes = HeldRows.find(work.ingest()).map(RowBytes::new).orElseGet(RowBytes::new);
        types = work.mapping().fields().stream()
                .map(mapped -> mapped.toField().type())
                .toArray(FieldType[]::new);
        meter = IngestMeter.find(work.ingest());
        meter.ifPresent(IngestMeter::started);
    }

    @Override
    public void processElement(StreamRecord<RowRun> element) throws Exception {
        try {
            scan.scan(element.getValue(), this::add);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void add(byte[] key, String split) throws BadValueException, IOException {
        bytes.begin();
        for (int mapped = 0; mapped < types.length; mapped++) {
            scan.value(mapped, bytes.of(types[mapped]));
        }
        int length = bytes.length();
        long hash = KeyHash.hash(work.seed(), key);
        long place = scan.place();
        HashedRow hashed = bytes.hold()
                .map(values -> HashedRow.held(hash, place, key, split, values))
                .orElseGet(() -> new HashedRow(hash, HashedRow.Kind.ROW, place, key, split, bytes.take()));
        output.collect(new StreamRecord<>(hashed));
        meter.ifPresent(m -> m.listed(1, length));
    }

    @Override
    public void endInput() {
        leftOut.flush();
        skipped.addAll(FileSkip.EXCLUDED, scan.excluded());
        if (!skipped.isEmpty()) {
            output.collect(new StreamRecord<>(HashedRow.of(skipped)));
        }
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(scan, super::close);
    }
}
