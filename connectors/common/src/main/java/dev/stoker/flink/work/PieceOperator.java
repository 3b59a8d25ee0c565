package dev.stoker.flink.work;

import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import org.apache.flink.api.common.accumulators.IntCounter;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.InstantiationUtil;

/** Does the pieces whose numbers it receives, and emits their results, serialized. Runs on the task's thread. */
final class PieceOperator extends AbstractStreamOperator<byte[]> implements OneInputStreamOperator<Long, byte[]> {

    private static final long serialVersionUID = 1;

    /** The name of the accumulator that counts the pieces that are done. */
    static final String DONE = "pieces";

    private final String location;
    private final PieceWork<?> work;

    private transient ObjectStore store;
    private transient PieceWorker<?> worker;
    private transient IntCounter done;

    PieceOperator(String location, PieceWork<?> work) {
        this.location = location;
        this.work = work;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        done = new IntCounter();
        getRuntimeContext().addAccumulator(DONE, done);
        store = Stores.open(location);
        try {
            worker = work.open(store).get();
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    @Override
    public void processElement(StreamRecord<Long> element) throws Exception {
        int piece = Math.toIntExact(element.getValue());
        try {
            output.collect(new StreamRecord<>(InstantiationUtil.serializeObject(worker.run(piece))));
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
        done.add(1);
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(worker, store, super::close);
    }
}
