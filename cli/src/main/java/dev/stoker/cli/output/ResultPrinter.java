package dev.stoker.cli.output;

import dev.stoker.schemas.json.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints results as they are found: a line of JSON for each at once, or one table at the end. For one thread.
 *
 * @param <R> a result
 */
public final class ResultPrinter<R> {

    private final Columns<R> columns;
    private final boolean json;
    private final PrintWriter out;
    private final List<R> rows = new ArrayList<>();

    /** @param json whether to print JSON */
    public ResultPrinter(Columns<R> columns, boolean json, PrintWriter out) {
        this.columns = columns;
        this.json = json;
        this.out = out;
    }

    /** Prints a result, or keeps it for the table. */
    public void add(R row) {
        if (json) {
            out.println(columns.put(Json.object(), row));
        } else {
            rows.add(row);
        }
    }

    /** Prints the table, which is only its heads if there is no result. */
    public void end() {
        if (!json) {
            columns.print(rows, out);
        }
    }
}
