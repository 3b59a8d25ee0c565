package dev.stoker.formats.files;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The format {@code files}: one file for each sample, named by its key, with the value of one column. */
public final class FilesWriter {
    /** Name of the format. */
    public static final String NAME = "files";

    private FilesWriter() {}

    /** Returns the problems of a table that the format cannot hold: a sentence for each, with the option that helps. */
    public static List<String> problems(OutputTable table) {
        List<String> problems = new ArrayList<>();
        if (table.key() < 0) {
            problems.add("files are named by the key; add it with " + table.withKey());
        }
        List<OutputColumn> contents = new ArrayList<>(table.columns());
        if (table.key() >= 0) {
            contents.remove(table.key());
        }
        if (contents.size() != 1) {
            List<String> names = IntStream.range(0, table.columns().size())
                    .filter(c -> c != table.key() && isContent(table.columns().get(c)))
                    .mapToObj(table.stored()::get)
                    .toList();
            problems.add("a file holds the value of one column, not of " + contents.size()
                    + (names.isEmpty()
                            ? "; choose a column of binary or utf8 with --columns key,NAME, or export to jsonl"
                            : "; choose one with --columns key,NAME (" + String.join(", ", names) + ")"));
        } else if (!isContent(contents.get(0))) {
            problems.add("column " + contents.get(0).name() + ": a file holds binary or utf8, not "
                    + contents.get(0).type() + "; choose another column with --columns key,NAME, or export to jsonl");
        }
        return problems;
    }

    private static boolean isContent(OutputColumn column) {
        return column.type() == ScalarType.BINARY || column.type() == ScalarType.UTF8;
    }
}
