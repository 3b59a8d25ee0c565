package dev.stoker.connectors.dataset.sink.keys;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.TakenKeyException;
import java.io.IOException;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.connector.sink2.CommittableMessage;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Fails the job if a key comes twice; emits nothing. The commit waits for its end. Runs on the task's thread. */
public final class KeyCheck extends KeyedProcessFunction<String, Tuple2<String, Long>, CommittableMessage<PackReport>> {

    private static final long serialVersionUID = 1;

    private transient ValueState<Long> chunks;

    @Override
    public void open(OpenContext context) {
        chunks = getRuntimeContext().getState(new ValueStateDescriptor<>("chunk", Types.LONG));
    }

    @Override
    public void processElement(Tuple2<String, Long> key, Context context, Collector<CommittableMessage<PackReport>> out)
            throws IOException {
        Long before = chunks.value();
        if (before == null) {
            chunks.update(key.f1);
            return;
        }
        long chunk = Math.max(before, key.f1);
        throw new SuppressRestartsException(
                chunk == ChunkKeysOperator.NEW
                        ? TakenKeyException.twiceInRows(key.f0)
                        : TakenKeyException.inDataset(key.f0, "chunk " + chunk));
    }
}
