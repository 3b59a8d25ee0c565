package dev.stoker.formats.files;

import dev.stoker.formats.OutputColumn;
import dev.stoker.formats.OutputTable;
import dev.stoker.schemas.arrow.ScalarType;
import java.util.ArrayList;
import java.util.List;

/** The format {@code files}: one file for each sample, named by its key, with the value of one column. */
public final class FilesWriter {
    /** Name of the format. */
    public static final String NAME = "files";

    private FilesWriter() {}

    /** Returns the problems of a table that the format cannot hold: a sentence for each, with the option that helps. */
    public static List<String> problems(OutputTable table) {
        List<String> problems = new ArrayList<>();
        if (table.key() < 0) {
            problems.add("files are named by the key; add key to --columns");
        }
        List<OutputColumn> contents = new ArrayList<>(table.columns());
        if (table.key() >= 0) {
            contents.remove(table.key());
        }
        if (contents.size() != 1) {
            List<String> names = contents.stream().map(OutputColumn::name).toList();
            problems.add("a file holds the value of one column, not of " + names.size() + "; choose one with --columns"
                    + " key,NAME (there are " + String.join(", ", names) + ")");
        } else if (contents.get(0).type() != ScalarType.BINARY
                && contents.get(0).type() != ScalarType.UTF8) {
            problems.add("column " + contents.get(0).name() + ": a file holds binary or utf8, not "
                    + contents.get(0).type() + "; choose another column with --columns, or export to jsonl");
        }
        return problems;
    }
}
