package dev.stoker.connectors.dataset.source.reader;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.SampleDeserializer;
import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.connectors.dataset.source.split.ChunkSplitState;
import java.util.Map;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.source.reader.SingleThreadMultiplexSourceReaderBase;
import org.apache.flink.connector.base.source.reader.SourceReaderOptions;

/**
 * Reads splits and requests the next one when it has finished one. At most three chunks are in memory: one whose rows
 * are emitted, one in the queue, and one that the fetcher reads.
 */
// Flink declares that close throws any exception.
@SuppressWarnings("try")
public final class ChunkSourceReader<T>
        extends SingleThreadMultiplexSourceReaderBase<ChunkRow, T, ChunkSplit, ChunkSplitState> {

    private final ReaderStore store;

    public ChunkSourceReader(SourceReaderContext context, DatasetScan scan, SampleDeserializer<T> deserializer) {
        this(context, new ReaderStore(scan), deserializer);
    }

    private ChunkSourceReader(SourceReaderContext context, ReaderStore store, SampleDeserializer<T> deserializer) {
        super(
                () -> new ChunkSplitReader(store),
                new SampleEmitter<>(deserializer),
                shortQueue(context.getConfiguration()),
                context);
        this.store = store;
    }

    private static Configuration shortQueue(Configuration given) {
        Configuration settings = new Configuration(given);
        settings.set(SourceReaderOptions.ELEMENT_QUEUE_CAPACITY, 1);
        return settings;
    }

    @Override
    public void start() {
        if (getNumberOfCurrentlyAssignedSplits() == 0) {
            context.sendSplitRequest();
        }
    }

    @Override
    protected void onSplitFinished(Map<String, ChunkSplitState> finished) {
        context.sendSplitRequest();
    }

    @Override
    protected ChunkSplitState initializedState(ChunkSplit split) {
        return new ChunkSplitState(split);
    }

    @Override
    protected ChunkSplit toSplitType(String id, ChunkSplitState state) {
        return state.toSplit();
    }

    @Override
    public void close() throws Exception {
        store.end();
        super.close();
        store.close();
    }
}
