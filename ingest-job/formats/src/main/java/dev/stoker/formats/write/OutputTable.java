package dev.stoker.formats.write;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.text.ShellText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Describes the content of a file to write.
 *
 * @param columns the columns in their order
 * @param key index of the column with the keys of samples; -1 if it is left out
 * @param compression one of {@link RowFormatWriter#compressions}
 * @param stored the names of the columns in the dataset, which the options of an export take
 */
public record OutputTable(List<OutputColumn> columns, int key, String compression, List<String> stored) {
    public OutputTable {
        columns = List.copyOf(columns);
        stored = List.copyOf(stored);
    }

    /** Describes a table whose columns have the names that they have in the dataset. */
    public OutputTable(List<OutputColumn> columns, int key, String compression) {
        this(columns, key, compression, columns.stream().map(OutputColumn::name).toList());
    }

    /**
     * Returns the option that leaves out columns, as the beginning of a list of clauses; empty if no column would be
     * left.
     *
     * @param isRefused whether the format cannot hold a column, by its index
     */
    public String leaveOut(IntPredicate isRefused) {
        int[] left = IntStream.range(0, columns.size())
                .filter(column -> column == key || !isRefused.test(column))
                .toArray();
        boolean hasValues = Arrays.stream(left).anyMatch(column -> column != key);
        List<String> names = Arrays.stream(left).mapToObj(stored::get).toList();
        return hasValues ? "leave such columns out with " + ShellText.names("--columns", names) + ", or " : "";
    }

    /** Returns the option that adds the key. */
    public String withKey() {
        List<String> names = new ArrayList<>(List.of(Field.KEY));
        names.addAll(stored);
        return ShellText.names("--columns", names);
    }

    /**
     * Returns the option that gives a column another name, which no other column has.
     *
     * @param name the wanted name
     */
    public String rename(int column, String name) {
        Set<String> taken = columns.stream().map(OutputColumn::name).collect(Collectors.toSet());
        String free = name;
        for (int i = 2; taken.contains(free); i++) {
            free = name + "_" + i;
        }
        return ShellText.pair("--rename", stored.get(column), free);
    }

    /** Names a row for messages: by its key, or by its place if the key is left out. */
    public String nameOf(RowBatch rows, int row) {
        return key < 0
                ? "in row " + row + " of a batch"
                : rows.columns().get(key).stringAt(row);
    }

    /** Returns the value of a categorical column. */
    public String classAt(RowBatch rows, int column, int row) {
        return columns.get(column).classes().get(rows.columns().get(column).intAt(row));
    }
}
