package dev.stoker.ingest.pack;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.ingest.pack.keys.BucketSort;
import dev.stoker.ingest.pack.keys.KeyRefusals;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Fails the ingest if a key is already used; emits nothing. The sink waits for its end. Runs on the task's thread. */
public final class KeyCheckOperator extends AbstractStreamOperator<PackReport>
        implements OneInputStreamOperator<PathBundle, PackReport>, BoundedOneInput {

    private static final long serialVersionUID = 1;

    private final KeyRefusals refusals;

    private transient BucketSort buckets;

    /** @param refusals makes the errors */
    public KeyCheckOperator(KeyRefusals refusals) {
        this.refusals = refusals;
    }

    @Override
    public void open() throws Exception {
        super.open();
        buckets = new BucketSort(
                0, new DuplicateRule(OnDuplicate.FAIL, refusals, new SkipCounts(), (file, stored) -> {}));
    }

    @Override
    public void processElement(StreamRecord<PathBundle> element) throws Exception {
        try {
            buckets.add(element.getValue());
        } catch (TakenKeyException e) {
            throw new SuppressRestartsException(e);
        }
    }

    @Override
    public void endInput() throws Exception {
        try {
            buckets.flush();
        } catch (TakenKeyException e) {
            throw new SuppressRestartsException(e);
        }
    }
}
