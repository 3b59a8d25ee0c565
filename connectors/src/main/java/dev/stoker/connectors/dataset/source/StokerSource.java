package dev.stoker.connectors.dataset.source;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.SampleDeserializer;
import dev.stoker.connectors.dataset.source.enumerator.ChunkEnumerator;
import dev.stoker.connectors.dataset.source.enumerator.EnumeratorState;
import dev.stoker.connectors.dataset.source.enumerator.EnumeratorStateSerializer;
import dev.stoker.connectors.dataset.source.reader.ChunkSourceReader;
import dev.stoker.connectors.dataset.source.split.ChunkSplit;
import dev.stoker.connectors.dataset.source.split.ChunkSplitSerializer;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.core.io.SimpleVersionedSerializer;

/**
 * Reads the samples of one version of a dataset. Bounded.
 *
 * <pre>{@code
 * StokerSource<Label> source = StokerSource.<Label>builder()
 *         .setPath("s3://bucket/photos")
 *         .setColumns("key", "label")
 *         .setSplits("train")
 *         .setDeserializer(new LabelDeserializer())
 *         .build();
 * DataStream<Label> labels = env.fromSource(source, WatermarkStrategy.noWatermarks(), "photos");
 * }</pre>
 *
 * <p>The source reads only the columns that it is told to read, and verifies their checksums. Each parallel reader
 * keeps the selected columns of at most three chunks in memory. Samples come in no particular order. The version is
 * chosen when the job starts, unless it is set, and is kept in checkpoints.
 *
 * @param <T> the type of the records that the deserializer makes of samples
 */
public final class StokerSource<T> implements Source<T, ChunkSplit, EnumeratorState>, ResultTypeQueryable<T> {

    private static final long serialVersionUID = 1;

    private final DatasetScan scan;
    private final SampleDeserializer<T> deserializer;

    StokerSource(DatasetScan scan, SampleDeserializer<T> deserializer) {
        this.scan = scan;
        this.deserializer = deserializer;
    }

    /** Begins a source. */
    public static <T> StokerSourceBuilder<T> builder() {
        return new StokerSourceBuilder<>();
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    public SplitEnumerator<ChunkSplit, EnumeratorState> createEnumerator(SplitEnumeratorContext<ChunkSplit> context) {
        return new ChunkEnumerator(context, scan);
    }

    @Override
    public SplitEnumerator<ChunkSplit, EnumeratorState> restoreEnumerator(
            SplitEnumeratorContext<ChunkSplit> context, EnumeratorState state) {
        return new ChunkEnumerator(context, scan, state);
    }

    @Override
    public SourceReader<T, ChunkSplit> createReader(SourceReaderContext context) {
        ClassLoaderCleanup.atUnload(context.getUserCodeClassLoader());
        return new ChunkSourceReader<>(context, scan, deserializer);
    }

    @Override
    public SimpleVersionedSerializer<ChunkSplit> getSplitSerializer() {
        return ChunkSplitSerializer.INSTANCE;
    }

    @Override
    public SimpleVersionedSerializer<EnumeratorState> getEnumeratorCheckpointSerializer() {
        return EnumeratorStateSerializer.INSTANCE;
    }

    @Override
    public TypeInformation<T> getProducedType() {
        return deserializer.getProducedType();
    }
}
