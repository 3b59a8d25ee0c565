package dev.stoker.formats.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.stoker.formats.block.StreamCompression;
import dev.stoker.formats.values.JsonValues;
import dev.stoker.formats.values.TextValue;
import dev.stoker.formats.write.Cell;
import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ListType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.arrow.types.TensorType;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/** Writes JSON lines: an object for each sample, with all columns in their order and null for missing values. */
public final class JsonLinesWriter implements RowFormatWriter {
    private static final JsonFactory JSON = new JsonFactory();

    @Override
    public String name() {
        return "jsonl";
    }

    @Override
    public List<String> compressions() {
        return StreamCompression.NAMES;
    }

    @Override
    public String ending(String compression) {
        return ".jsonl" + StreamCompression.ending(compression);
    }

    @Override
    public List<String> problems(OutputTable table) {
        List<String> problems = new ArrayList<>();
        String leaveOut =
                table.leaveOut(c -> !TextValue.canBeJson(table.columns().get(c).type()));
        for (OutputColumn column : table.columns()) {
            if (!TextValue.canBeJson(column.type())) {
                problems.add("column " + column.name() + ": JSON cannot hold " + column.type() + "; " + leaveOut
                        + "export to parquet or webdataset");
            }
        }
        return problems;
    }

    @Override
    public String type(OutputColumn column) {
        FieldType type = column.type();
        if (type instanceof ScalarType scalar && scalar == ScalarType.BOOL) {
            return "true or false";
        }
        if (type instanceof ListType || type instanceof TensorType) {
            return "array";
        }
        return type instanceof ScalarType scalar && (scalar.isInteger() || scalar.isFloat()) ? "number" : "text";
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new Output(StreamCompression.open(out, table.compression()), table);
    }

    private static final class Output implements RowOutput {
        private final OutputTable table;
        private final OutputStream stream;
        private final JsonGenerator out;

        Output(OutputStream stream, OutputTable table) throws IOException {
            this.table = table;
            this.stream = stream;
            this.out = JSON.createGenerator(stream)
                    .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
                    .setRootValueSeparator(null);
        }

        @Override
        public void write(RowBatch rows) throws IOException {
            for (int row = 0; row < rows.rows(); row++) {
                out.writeStartObject();
                for (int c = 0; c < table.columns().size(); c++) {
                    out.writeFieldName(table.columns().get(c).name());
                    JsonValues.write(new Cell(table, rows, c, row), out);
                }
                out.writeEndObject();
                out.writeRaw('\n');
            }
        }

        @Override
        public void finish() throws IOException {
            out.close();
            stream.close();
        }

        @Override
        public void close() {}
    }
}
