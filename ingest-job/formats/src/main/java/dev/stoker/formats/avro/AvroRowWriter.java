package dev.stoker.formats.avro;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Writes Avro container files. */
public final class AvroRowWriter implements RowFormatWriter {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    @Override
    public String name() {
        return "avro";
    }

    @Override
    public List<String> compressions() {
        return List.of("none", "deflate", "zstd");
    }

    @Override
    public String ending(String compression) {
        return ".avro";
    }

    @Override
    public List<String> problems(OutputTable table) {
        List<String> problems = new ArrayList<>();
        String leaveOut = table.leaveOut(
                c -> AvroOutputTypes.isRefused(table.columns().get(c).type()));
        for (int c = 0; c < table.columns().size(); c++) {
            OutputColumn column = table.columns().get(c);
            if (!NAME.matcher(column.name()).matches()) {
                problems.add("column " + column.name() + ": a name in Avro has ASCII letters, digits and underscores;"
                        + " rename it, such as "
                        + table.rename(
                                c,
                                column.name().replaceAll("[^A-Za-z0-9_]", "_").replaceAll("^([0-9])", "_$1")));
            }
            if (AvroOutputTypes.isRefused(column.type())) {
                problems.add("column " + column.name() + ": Avro cannot hold " + column.type() + "; " + leaveOut
                        + "export to parquet");
            }
        }
        return problems;
    }

    @Override
    public String type(OutputColumn column) {
        return AvroOutputTypes.value(column).toString();
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new AvroFileOutput(out, table);
    }
}
