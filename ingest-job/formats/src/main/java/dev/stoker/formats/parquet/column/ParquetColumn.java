package dev.stoker.formats.parquet.column;

import dev.stoker.formats.NumberWriter;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowColumn;
import dev.stoker.formats.parquet.page.Leaf;
import dev.stoker.formats.parquet.page.LeafReader;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A column of rows and where its values are.
 *
 * @param column the column of rows
 * @param source the leaf that has the values
 * @param scalar converts them
 * @param classes the names of the classes if the values are their numbers, otherwise empty
 * @param file the leaf that has the path of the file in which a payload is if it has no bytes; null if there is none
 */
public record ParquetColumn(
        RowColumn column,
        Source source,
        Scalar.Maker scalar,
        List<String> classes,
        @Nullable Source file) {
    /** A leaf and its way from the root. */
    public record Source(Leaf leaf, ColumnPath path) {}

    /** Opens the leaves of a row group. */
    public interface Opener {
        LeafReader open(Leaf leaf) throws IOException;
    }

    public Value open(Opener opener, ReadLimits limits) throws IOException {
        LeafReader reader = opener.open(source.leaf());
        ColumnPath path = source.path();
        int lists = path.lists().length;
        if (lists == 0) {
            if (!classes.isEmpty()) {
                return new ClassLabelValue(reader, classes);
            }
            FlatValue value = new FlatValue(reader, scalar.make());
            if (file == null) {
                return value;
            }
            LeafReader paths = opener.open(file.leaf());
            return new PayloadValue(value, new FlatValue(paths, new Scalars.Bytes()), column.name());
        }
        ScalarType element = element();
        if (!element.isNumber()) {
            boolean nullIsEmpty = column.role() == RowColumn.Role.PATH;
            return new BytesLists(reader, path, scalar.make(), limits.valueBytes(), nullIsEmpty);
        }
        NumberWriter items = new NumberWriter(element, limits.valueBytes());
        return lists == 1
                ? new NumberLists(reader, path, scalar.make(), items)
                : new ListsOfLists(reader, path, scalar.make(), items, limits.valueBytes());
    }

    private ScalarType element() {
        String type = column.type().canonical();
        String item = type.substring(0, type.indexOf('[')).replace("?", "");
        return ScalarType.valueOf(item.toUpperCase(Locale.ROOT));
    }
}
