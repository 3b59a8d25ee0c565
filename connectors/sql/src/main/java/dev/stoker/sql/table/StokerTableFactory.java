package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;

/** Makes the sources and sinks of tables {@code WITH ('connector'='stoker', 'path'='…')}. Stateless. */
public class StokerTableFactory implements DynamicTableSourceFactory, DynamicTableSinkFactory {

    /** The value of the option {@code connector}. */
    public static final String IDENTIFIER = "stoker";

    private final DatasetStore stores;
    private final String identifier;

    /** Called by Flink, which finds the class by the name of its service. */
    public StokerTableFactory() {
        this(IDENTIFIER, DatasetStore.BY_LOCATION);
    }

    StokerTableFactory(String identifier, DatasetStore stores) {
        this.identifier = identifier;
        this.stores = stores;
    }

    @Override
    public String factoryIdentifier() {
        return identifier;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of(StokerOptions.PATH);
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(
                StokerOptions.VERSION,
                StokerOptions.SPLITS,
                StokerOptions.SINK_SPLIT,
                StokerOptions.SINK_CHUNK_SIZE,
                StokerOptions.SINK_PAYLOAD,
                StokerOptions.SINK_CATEGORICAL);
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        ReadableConfig given = helper.getOptions();
        long version = given.getOptional(StokerOptions.VERSION).orElse(0L);
        String table = context.getObjectIdentifier().asSummaryString();
        if (given.getOptional(StokerOptions.VERSION).isPresent() && version < 1) {
            throw new ValidationException(
                    "Table " + table + ": option 'version' is " + version + "; versions start at 1");
        }
        String path = Stores.normalize(given.get(StokerOptions.PATH));
        DatasetInfo info = open(table, path, version);
        List<String> partitions = context.getCatalogTable().getPartitionKeys();
        TableChecks.requireReadable(table, info, context.getPhysicalRowDataType(), partitions);
        return new StokerTableSource(
                stores,
                info,
                new StokerTableSource.ReadOptions(
                        path, version, given.getOptional(StokerOptions.SPLITS).orElse(List.of()), partitions),
                context.getPhysicalRowDataType());
    }

    @Override
    public DynamicTableSink createDynamicTableSink(Context context) {
        FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
        helper.validate();
        ReadableConfig given = helper.getOptions();
        String table = context.getObjectIdentifier().asSummaryString();
        if (given.getOptional(StokerOptions.VERSION).isPresent()) {
            throw new ValidationException(
                    "Table " + table + " is an older version of the dataset; INSERT into the table"
                            + " without the option 'version' and without a version in its name");
        }
        String key = StokerOptions.SINK_CHUNK_SIZE.key();
        Units.missingSizeUnit(context.getCatalogTable().getOptions().getOrDefault(key, ""))
                .ifPresent(problem -> {
                    throw new ValidationException("Table " + table + ": option '" + key + "': " + problem);
                });
        String path = Stores.normalize(given.get(StokerOptions.PATH));
        try (ObjectStore store = stores.open(path)) {
            Optional<Dataset> existing = Dataset.find(store);
            long newest = existing.isPresent() ? existing.get().latestVersion() : 0;
            SinkColumns columns = existing.isPresent()
                    ? SinkColumns.of(existing.get().latest().info(), SinkTable.of(context))
                    : SinkColumns.create(SinkTable.of(context), given, path);
            return new StokerTableSink(
                    new StokerTableSink.WriteOptions(
                            stores,
                            path,
                            given.get(StokerOptions.SINK_SPLIT),
                            given.get(StokerOptions.SINK_CHUNK_SIZE).getBytes(),
                            newest,
                            isCheckpointed(context)),
                    columns,
                    DataType.getFieldCount(context.getPhysicalRowDataType()));
        } catch (IOException e) {
            throw new ValidationException("Table " + table + ": " + e.getMessage(), e);
        }
    }

    private static boolean isCheckpointed(Context context) {
        return context.getConfiguration()
                .getOptional(CheckpointingOptions.CHECKPOINTING_INTERVAL)
                .isPresent();
    }

    /** @param version 0 for the newest one */
    private DatasetInfo open(String table, String path, long version) {
        try (ObjectStore store = stores.open(path)) {
            Dataset dataset = Dataset.open(store);
            // A version that does not exist is reported when it is read.
            boolean isThere = version > 0 && version <= dataset.latestVersion();
            return (isThere ? dataset.anySnapshot(version) : dataset.latest()).info();
        } catch (IOException e) {
            throw new ValidationException("Table " + table + ": " + e.getMessage(), e);
        }
    }
}
