package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.sink.StokerSink;
import dev.stoker.connectors.dataset.sink.StokerSinkBuilder;
import dev.stoker.sql.types.Metadata;
import dev.stoker.sql.types.RowSamples;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.sink.SinkV2Provider;
import org.apache.flink.table.connector.sink.abilities.SupportsOverwrite;
import org.apache.flink.table.connector.sink.abilities.SupportsPartitioning;
import org.apache.flink.table.connector.sink.abilities.SupportsWritingMetadata;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;

/**
 * An INSERT into a dataset. A batch job commits one version; a job in streaming mode commits one for each checkpoint
 * with rows. Updates and deletions are refused. The planner copies and changes it on one thread.
 */
final class StokerTableSink
        implements DynamicTableSink, SupportsOverwrite, SupportsPartitioning, SupportsWritingMetadata {

    private final WriteOptions options;
    private final int physical;
    private SinkColumns columns;
    private boolean isOverwrite;

    /**
     * Where to write.
     *
     * @param stores opens the store
     * @param path location of the dataset
     * @param split of rows that name no other
     * @param chunkSizeBytes length at which a chunk ends
     * @param baseVersion newest version when the statement was planned
     * @param isCheckpointed whether jobs in streaming mode have checkpoints
     */
    record WriteOptions(
            DatasetStore stores,
            String path,
            String split,
            long chunkSizeBytes,
            long baseVersion,
            boolean isCheckpointed) {}

    /** @param physical the number of columns before metadata */
    StokerTableSink(WriteOptions options, SinkColumns columns, int physical) {
        this.options = options;
        this.columns = columns;
        this.physical = physical;
    }

    @Override
    public ChangelogMode getChangelogMode(ChangelogMode requested) {
        return ChangelogMode.insertOnly();
    }

    @Override
    public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
        if (!context.isBounded()) {
            requireStream();
        }
        StokerSinkBuilder<RowData> builder = StokerSink.<RowData>builder()
                .setStore(options.stores())
                .setPath(options.path())
                .setDataset(columns.info())
                .setBaseVersion(options.baseVersion())
                .setSplit(options.split())
                .setChunkSize(Math.toIntExact(options.chunkSizeBytes()))
                .setSerializer(new RowSamples(columns.stored(), columns.identity()));
        if (columns.identity().hasKey()) {
            builder.withGivenKeys();
        }
        return SinkV2Provider.of(isOverwrite ? builder.replaceAll().build() : builder.build());
    }

    /** Checks what only a stream requires. */
    private void requireStream() {
        String problem = "";
        if (!options.isCheckpointed()) {
            problem = "commits rows at checkpoints, and there are none; set 'execution.checkpointing.interval', or for"
                    + " bounded tables 'execution.runtime-mode' = 'batch'";
        } else if (columns.identity().hasKey()) {
            problem = "cannot compare given keys with each other before the end of the rows; use a batch statement over"
                    + " bounded tables, or a table without a key";
        } else if (isOverwrite) {
            problem = "cannot replace all samples; use a batch statement";
        }
        if (!problem.isEmpty()) {
            throw new ValidationException(
                    "INSERT in streaming mode into the dataset " + options.path() + " " + problem);
        }
    }

    @Override
    public void applyOverwrite(boolean overwrite) {
        isOverwrite = overwrite;
        requireNoPartialOverwrite();
    }

    /** Rows have the value of a static partition in its column. */
    @Override
    public void applyStaticPartition(Map<String, String> partition) {
        requireNoPartialOverwrite();
    }

    private void requireNoPartialOverwrite() {
        if (isOverwrite && columns.identity().hasSplit()) {
            throw new ValidationException("INSERT OVERWRITE replaces all samples of the dataset " + options.path()
                    + ", and not only those of a split; overwrite through a table without a column for the split");
        }
    }

    @Override
    public Map<String, DataType> listWritableMetadata() {
        Map<String, DataType> writable = new LinkedHashMap<>();
        writable.put(Metadata.KEY.key(), DataTypes.STRING().notNull());
        writable.put(Metadata.SPLIT.key(), DataTypes.STRING());
        return writable;
    }

    @Override
    public void applyWritableMetadata(List<String> keys, DataType consumed) {
        for (int m = 0; m < keys.size(); m++) {
            columns = columns.withMetadata(keys.get(m), physical + m);
        }
        requireNoPartialOverwrite();
    }

    @Override
    public DynamicTableSink copy() {
        StokerTableSink copy = new StokerTableSink(options, columns, physical);
        copy.isOverwrite = isOverwrite;
        return copy;
    }

    @Override
    public String asSummaryString() {
        return "Stoker dataset " + options.path();
    }
}
