package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.connectors.dataset.SampleDeserializer;
import dev.stoker.connectors.dataset.source.split.ChunkSplitState;
import dev.stoker.schemas.errors.ErrorText;
import java.io.IOException;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.connector.base.source.reader.RecordEmitter;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/** Makes records of samples. Runs on the task's thread. */
final class SampleEmitter<T> implements RecordEmitter<ChunkRow, T, ChunkSplitState> {

    private final SampleDeserializer<T> deserializer;

    SampleEmitter(SampleDeserializer<T> deserializer) {
        this.deserializer = deserializer;
    }

    @Override
    public void emitRecord(ChunkRow sample, SourceOutput<T> output, ChunkSplitState state) {
        T record;
        try {
            record = deserializer.deserialize(sample);
        } catch (IOException | RuntimeException e) {
            // A new attempt would read the same sample.
            throw new SuppressRestartsException(new IOException(
                    "Cannot convert row " + sample.row() + " of chunk " + sample.chunk() + ": " + ErrorText.of(e), e));
        }
        output.collect(record);
        state.advance(sample.chunk(), sample.row());
    }
}
