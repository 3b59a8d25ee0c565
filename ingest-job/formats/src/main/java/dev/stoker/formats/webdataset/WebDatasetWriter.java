package dev.stoker.formats.webdataset;

import dev.stoker.formats.block.StreamCompression;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Writes WebDataset shards: a tar archive with a member for each value, named by key and column. */
public final class WebDatasetWriter implements RowFormatWriter {
    @Override
    public String name() {
        return "webdataset";
    }

    @Override
    public List<String> compressions() {
        return StreamCompression.NAMES;
    }

    @Override
    public String ending(String compression) {
        return ".tar" + StreamCompression.ending(compression);
    }

    @Override
    public List<String> problems(OutputTable table) {
        List<String> problems = new ArrayList<>();
        if (table.key() < 0) {
            problems.add("the members of an archive are named by the key; add it with " + table.withKey());
        } else if (table.columns().size() == 1) {
            problems.add("an archive needs a column besides the key; add one with --columns key,NAME");
        }
        String leaveOut = table.leaveOut(c -> isRefused(table.columns().get(c).type()));
        for (int c = 0; c < table.columns().size(); c++) {
            OutputColumn column = table.columns().get(c);
            if (c == table.key()) {
                continue;
            }
            if (isRefused(column.type())) {
                problems.add("column " + column.name()
                        + ": a member holds one value, not " + column.type()
                        + "; " + leaveOut + "export to parquet");
            }
            String name = column.name();
            String lower = name.toLowerCase(Locale.ROOT);
            boolean isPlain = name.equals(lower)
                    && name.chars().noneMatch(ch -> ch == '/' || ch <= ' ' || ch == 0x7F)
                    && !name.startsWith(".")
                    && !name.endsWith(".");
            if (!isPlain) {
                problems.add("column " + name + ": the ending of a member is in lower case, without slashes, spaces and"
                        + " outer dots; rename it, such as " + table.rename(c, plain(lower)));
            }
        }
        return problems;
    }

    private static boolean isRefused(FieldType type) {
        return isListOfItems(type) && !TextValue.canBeJson(type);
    }

    /** Returns a name in lower case that can be an ending. */
    private static String plain(String lower) {
        String plain = lower.replaceAll("[/=\\x00-\\x20\\x7f]", "_").replaceAll("^\\.+|\\.+$", "");
        return plain.isEmpty() ? "column" : plain;
    }

    /** Returns the ending of the members of a column: with {@code .npy} or {@code .json} for lists. */
    static String ending(OutputColumn column) {
        String format = isArray(column.type()) ? "npy" : isListOfItems(column.type()) ? "json" : "";
        String name = column.name();
        boolean hasIt = format.isEmpty() || name.equals(format) || name.endsWith("." + format);
        return hasIt ? name : name + "." + format;
    }

    /** Returns whether a value is written as JSON. */
    static boolean isListOfItems(FieldType type) {
        return type.items() != null;
    }

    static boolean isArray(FieldType type) {
        return type.numbers() != null;
    }

    @Override
    public String type(OutputColumn column) {
        String content = isArray(column.type())
                ? "NumPy array"
                : isListOfItems(column.type()) ? "JSON" : column.type() == ScalarType.BINARY ? "bytes" : "text";
        return content + " in ." + ending(column);
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new WebDatasetOutput(StreamCompression.open(out, table.compression()), table);
    }
}
