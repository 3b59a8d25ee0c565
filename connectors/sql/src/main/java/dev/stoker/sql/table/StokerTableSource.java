package dev.stoker.sql.table;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.FieldFilter;
import dev.stoker.connectors.dataset.source.StokerSource;
import dev.stoker.connectors.dataset.source.StokerSourceBuilder;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.sql.types.Metadata;
import dev.stoker.sql.types.RowCounts;
import dev.stoker.sql.types.SampleRows;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.connector.source.SourceProvider;
import org.apache.flink.table.connector.source.abilities.SupportsAggregatePushDown;
import org.apache.flink.table.connector.source.abilities.SupportsFilterPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsLimitPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsReadingMetadata;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.expressions.AggregateExpression;
import org.apache.flink.table.expressions.FieldReferenceExpression;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.types.DataType;

/** A bounded scan of one version of a dataset. The planner copies and changes it on one thread. */
final class StokerTableSource
        implements ScanTableSource,
                SupportsProjectionPushDown,
                SupportsFilterPushDown,
                SupportsLimitPushDown,
                SupportsAggregatePushDown,
                SupportsReadingMetadata {

    private static final String COUNT = "org.apache.flink.table.planner.functions.aggfunctions.Count1AggFunction";

    private final DatasetStore store;
    private final DatasetInfo info;
    private final ReadOptions options;
    private DataType produced;
    private List<Metadata> metadata = List.of();
    private List<FieldFilter> filters = List.of();
    private List<List<String>> splitConditions = List.of();
    private long limit = Long.MAX_VALUE;
    private boolean isCount;

    /**
     * What to read.
     *
     * @param path location of the dataset
     * @param version to read; 0 for the newest
     * @param splits to read; empty for all
     * @param partitions columns of the split
     */
    record ReadOptions(String path, long version, List<String> splits, List<String> partitions) {}

    /** @param produced the table's physical columns */
    StokerTableSource(DatasetStore store, DatasetInfo info, ReadOptions options, DataType produced) {
        this.store = store;
        this.info = info;
        this.options = options;
        this.produced = produced;
    }

    @Override
    public ChangelogMode getChangelogMode() {
        return ChangelogMode.insertOnly();
    }

    @Override
    public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
        List<String> columns = new ArrayList<>();
        List<String> types = new ArrayList<>();
        for (String column : isCount ? List.<String>of() : columns()) {
            if (options.partitions().contains(column)) {
                types.add(SampleRows.SPLIT);
            } else {
                columns.add(column);
                types.add(info.field(column)
                        .map(Field::type)
                        .orElse(ScalarType.UTF8)
                        .canonical());
            }
        }
        if (!isCount) {
            metadata.stream().filter(Metadata::isColumn).map(Metadata::key).forEach(columns::add);
        }
        StokerSourceBuilder<RowData> builder = StokerSource.<RowData>builder()
                .setStore(store)
                .setPath(options.path())
                .setVersion(options.version())
                .setSplits(options.splits().toArray(String[]::new))
                .setSplitConditions(splitConditions)
                .setColumns(columns.toArray(String[]::new))
                .setFilters(filters)
                .setLimitPerReader(limit)
                .setDeserializer(
                        isCount
                                ? new RowCounts(context.createTypeInformation(produced))
                                : new SampleRows(types, metadata, context.createTypeInformation(produced)));
        return SourceProvider.of(builder.build());
    }

    /** Returns the produced columns without metadata, which stand at the end. */
    private List<String> columns() {
        List<String> names = DataType.getFieldNames(produced);
        return names.subList(0, names.size() - metadata.size());
    }

    @Override
    public boolean supportsNestedProjection() {
        return false;
    }

    @Override
    public void applyProjection(int[][] projectedFields, DataType producedDataType) {
        produced = producedDataType;
    }

    @Override
    public Map<String, DataType> listReadableMetadata() {
        Map<String, DataType> readable = new LinkedHashMap<>();
        Metadata.of(info).forEach((value, type) -> readable.put(value.key(), type));
        return readable;
    }

    @Override
    public void applyReadableMetadata(List<String> keys, DataType producedDataType) {
        metadata = keys.stream().map(Metadata::new).toList();
        produced = producedDataType;
    }

    /**
     * Takes over {@code COUNT(*)}, for which Flink would read the first column. The planner has its functions in its
     * own class loader, so their classes are compared by name.
     */
    @Override
    public boolean applyAggregates(
            List<int[]> groupingSets, List<AggregateExpression> aggregates, DataType producedDataType) {
        boolean isPlain = groupingSets.size() == 1 && groupingSets.get(0).length == 0 && aggregates.size() == 1;
        if (!isPlain
                || !filters.isEmpty()
                || limit != Long.MAX_VALUE
                || !aggregates
                        .get(0)
                        .getFunctionDefinition()
                        .getClass()
                        .getName()
                        .equals(COUNT)) {
            return false;
        }
        isCount = true;
        produced = producedDataType;
        return true;
    }

    @Override
    public void applyLimit(long rows) {
        limit = rows;
    }

    /**
     * Takes over conditions on the split. Takes over comparisons of small fields, too, so that the payload of other
     * rows is not read; Flink evaluates them again.
     */
    @Override
    public Result applyFilters(List<ResolvedExpression> conditions) {
        List<ResolvedExpression> accepted = new ArrayList<>();
        List<ResolvedExpression> remaining = new ArrayList<>();
        List<FieldFilter> rows = new ArrayList<>(filters);
        List<List<String>> splits = new ArrayList<>(splitConditions);
        for (ResolvedExpression condition : conditions) {
            Optional<List<String>> split = FilterConversion.of(condition, this::splitColumn)
                    .filter(filter -> filter.operator() == FieldFilter.Operator.EQUAL
                            || filter.operator() == FieldFilter.Operator.IN)
                    .map(filter ->
                            filter.constants().stream().map(String.class::cast).toList());
            if (split.isPresent()) {
                splits.add(split.get());
                accepted.add(condition);
                continue;
            }
            Optional<FieldFilter> row = FilterConversion.of(condition, this::smallColumn);
            if (row.isPresent()) {
                rows.add(row.get());
                accepted.add(condition);
            }
            remaining.add(condition);
        }
        filters = rows;
        splitConditions = splits;
        return Result.of(accepted, remaining);
    }

    private Optional<FilterConversion.Column> smallColumn(FieldReferenceExpression reference) {
        List<String> columns = columns();
        int behind = reference.getFieldIndex() - columns.size();
        if (behind >= 0 && (behind >= metadata.size() || !metadata.get(behind).equals(Metadata.KEY))) {
            return Optional.empty();
        }
        String name = behind >= 0 ? Field.KEY : columns.get(reference.getFieldIndex());
        if (name.equals(Field.KEY)) {
            return Optional.of(new FilterConversion.Column(name, ScalarType.UTF8));
        }
        return info.field(name)
                .filter(field -> !field.payload())
                .map(field -> new FilterConversion.Column(name, field.type()));
    }

    private Optional<FilterConversion.Column> splitColumn(FieldReferenceExpression reference) {
        int index = reference.getFieldIndex() - columns().size();
        boolean isSplit = index < 0
                ? options.partitions().contains(columns().get(reference.getFieldIndex()))
                : index < metadata.size() && metadata.get(index).equals(Metadata.SPLIT);
        return isSplit
                ? Optional.of(new FilterConversion.Column(Metadata.SPLIT.key(), ScalarType.UTF8))
                : Optional.empty();
    }

    @Override
    public DynamicTableSource copy() {
        StokerTableSource copy = new StokerTableSource(store, info, options, produced);
        copy.metadata = metadata;
        copy.filters = filters;
        copy.splitConditions = splitConditions;
        copy.limit = limit;
        copy.isCount = isCount;
        return copy;
    }

    @Override
    public String asSummaryString() {
        return "Stoker dataset " + options.path();
    }
}
