package dev.stoker.connectors.dataset;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Describes the part of a dataset that a source reads. Serialized with the job graph.
 *
 * @param store opens the dataset's store
 * @param path the dataset's location: an absolute path or a URI
 * @param version the version to read; 0 for the newest one when the job starts
 * @param columns the columns to read, in this order: fields, {@code key}, and {@link #CRC} with the name of a payload
 *     field for the checksums of its values, of type uint32
 * @param splits the splits to read, which must exist; empty for all
 * @param splitConditions lists of splits; a chunk is read if its split is in all of them
 * @param filters conditions that all rows must meet
 * @param limit rows that each reader may emit at most
 */
public record DatasetScan(
        DatasetStore store,
        String path,
        long version,
        List<String> columns,
        List<String> splits,
        List<List<String>> splitConditions,
        List<FieldFilter> filters,
        long limit)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Begins the name of a column of checksums. */
    public static final String CRC = "crc32c:";

    public DatasetScan {
        columns = List.copyOf(columns);
        splits = List.copyOf(splits);
        splitConditions = List.copyOf(splitConditions);
        filters = List.copyOf(filters);
    }

    /** Returns the columns that must be read: the selected ones, then others that filters need. */
    public List<String> columnsToRead() {
        Set<String> all = new LinkedHashSet<>(columns);
        filters.forEach(filter -> all.add(filter.column()));
        return new ArrayList<>(all);
    }

    /** Returns whether chunks of a split are read. */
    public boolean includes(String split) {
        return (splits.isEmpty() || splits.contains(split))
                && splitConditions.stream().allMatch(names -> names.contains(split));
    }
}
