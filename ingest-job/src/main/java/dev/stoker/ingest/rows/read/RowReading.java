package dev.stoker.ingest.rows.read;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.formats.ColumnHints;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.rows.content.FileContents;
import dev.stoker.ingest.rows.options.MdsShards;
import dev.stoker.ingest.rows.source.PathColumns;
import dev.stoker.schemas.arrow.types.FieldType;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * How the tasks read the files of a source.
 *
 * @param format name of the format
 * @param types canonical type of each column that is read from the files
 * @param path the columns that directories give
 * @param contents columns with paths of files
 * @param declared columns whose source type the user has declared
 * @param isWhole whether each column of the source is read, so that a further one is an error
 * @param memoryBytes memory that the selected columns of one part may take; 0 for the default
 * @param errors what to do with rows and parts that cannot be read
 */
public record RowReading(
        String format,
        TreeMap<String, String> types,
        PathColumns path,
        FileContents contents,
        ArrayList<String> declared,
        boolean isWhole,
        long memoryBytes,
        FileTree.Errors errors)
        implements Serializable {
    private static final long serialVersionUID = 1;

    /** Returns what opens the files. */
    public RowFiles files() {
        Map<String, FieldType> read = new LinkedHashMap<>();
        types.forEach((name, type) -> read.put(name, FieldType.parse(type)));
        return new RowFiles(
                Formats.named(format), RowFiles.limits(memoryBytes), hints(), path, contents, new MdsShards(), read);
    }

    /** Returns names and types of the columns, for files whose format does not describe them. */
    private ColumnHints hints() {
        Map<String, FieldType> known = new LinkedHashMap<>();
        types.forEach((name, type) -> known.put(name, FieldType.parse(type)));
        contents.fields().forEach(known::remove);
        // In the files, the column with the paths has the name of the field.
        for (FileContents.Column content : contents.columns()) {
            FieldType paths = known.remove(content.pathName());
            if (paths != null) {
                known.put(content.name(), paths);
            }
        }
        Set<String> inferred = new HashSet<>(known.keySet());
        declared.forEach(inferred::remove);
        return new ColumnHints(
                List.of(), known, inferred, isWhole ? ColumnHints.Others.REFUSE : ColumnHints.Others.IGNORE);
    }

    /** Returns the type of a column in the source. */
    public FieldType type(String column) {
        String type =
                types.containsKey(column) ? types.get(column) : path.types().get(column);
        if (type == null) {
            throw new IllegalStateException("the type of column " + column + " is not part of the plan");
        }
        return FieldType.parse(type);
    }
}
