package dev.stoker.connectors.dataset.source;

import dev.stoker.connectors.dataset.DatasetScan;
import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.FieldFilter;
import dev.stoker.connectors.dataset.SampleDeserializer;
import dev.stoker.storage.Stores;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the settings of a {@link StokerSource}. The path and the deserializer are required. Not thread-safe.
 *
 * @param <T> the type of the records
 */
public final class StokerSourceBuilder<T> {

    private DatasetStore store = DatasetStore.BY_LOCATION;
    private String path = "";
    private long version;
    private List<String> columns = List.of();
    private List<String> splits = List.of();
    private List<List<String>> splitConditions = List.of();
    private List<FieldFilter> filters = List.of();
    private long limit = Long.MAX_VALUE;
    private @Nullable SampleDeserializer<T> deserializer;

    StokerSourceBuilder() {}

    /** Sets the dataset's location: a path that all machines of the job have mounted, or a URI. */
    public StokerSourceBuilder<T> setPath(String location) {
        path = location;
        return this;
    }

    /** Sets the version to read. Without a call, the source reads the newest version when the job starts. */
    public StokerSourceBuilder<T> setVersion(long number) {
        version = number;
        return this;
    }

    /**
     * Sets the columns to read: names of fields, {@code key}, and {@code crc32c:} with the name of a payload
     * field for the checksums of its values. Without a call, samples have no columns.
     */
    public StokerSourceBuilder<T> setColumns(String... names) {
        columns = List.of(names);
        return this;
    }

    /** Sets the splits to read. Without a call, the source reads all splits. */
    public StokerSourceBuilder<T> setSplits(String... names) {
        splits = List.of(names);
        return this;
    }

    /** Sets conditions on the split: the source reads chunks whose split is in all of the lists. */
    public StokerSourceBuilder<T> setSplitConditions(List<List<String>> lists) {
        splitConditions = List.copyOf(lists);
        return this;
    }

    /**
     * Sets conditions on small fields. The source emits only samples that meet all of them, and does not read the
     * payload of others.
     */
    public StokerSourceBuilder<T> setFilters(List<FieldFilter> conditions) {
        filters = List.copyOf(conditions);
        return this;
    }

    /** Sets the number of samples that each parallel reader may emit at most. */
    public StokerSourceBuilder<T> setLimitPerReader(long samples) {
        limit = samples;
        return this;
    }

    /** Sets the function that makes records of samples. */
    public StokerSourceBuilder<T> setDeserializer(SampleDeserializer<T> function) {
        deserializer = function;
        return this;
    }

    /** Sets how the store is opened. By default {@link DatasetStore#BY_LOCATION}. */
    public StokerSourceBuilder<T> setStore(DatasetStore opener) {
        store = opener;
        return this;
    }

    /**
     * Builds the source. Does not open the dataset.
     *
     * @throws IllegalArgumentException if a setting is missing or wrong; the message names all problems
     */
    public StokerSource<T> build() {
        List<String> problems = new ArrayList<>();
        if (path.isEmpty()) {
            problems.add("the path of the dataset is missing; call setPath");
        }
        if (version < 0) {
            problems.add("the version is " + version + "; versions start at 1");
        }
        if (limit < 0) {
            problems.add("the limit is " + limit);
        }
        if (columns.stream().distinct().count() != columns.size()) {
            problems.add("a column is named twice: " + columns);
        }
        SampleDeserializer<T> function = deserializer;
        if (function == null) {
            problems.add("the deserializer is missing; call setDeserializer");
        }
        if (function == null || !problems.isEmpty()) {
            throw new IllegalArgumentException("Cannot read a dataset: " + String.join("; ", problems));
        }
        return new StokerSource<>(
                new DatasetScan(
                        store, Stores.normalize(path), version, columns, splits, splitConditions, filters, limit),
                function);
    }
}
