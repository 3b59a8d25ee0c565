package dev.stoker.cli.output;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** A text table whose columns are as wide as their widest cell. */
public final class Table {

    private final List<String[]> rows = new ArrayList<>();

    public Table(String... head) {
        rows.add(head);
    }

    public void add(String... cells) {
        if (cells.length != rows.get(0).length) {
            throw new IllegalArgumentException(
                    cells.length + " cells in a table of " + rows.get(0).length + " columns");
        }
        rows.add(cells);
    }

    public void print(PrintWriter out) {
        int columns = rows.get(0).length;
        int[] width = new int[columns];
        for (String[] row : rows) {
            for (int i = 0; i < columns; i++) {
                width[i] = Math.max(width[i], Style.width(row[i]));
            }
        }
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                line.append(row[i]).append(" ".repeat(i == columns - 1 ? 0 : width[i] - Style.width(row[i]) + 2));
            }
            out.println(line.toString().stripTrailing());
        }
    }
}
