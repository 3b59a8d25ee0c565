package dev.stoker.formats.parquet;

import dev.stoker.formats.OutputColumn;
import dev.stoker.formats.OutputTable;
import dev.stoker.formats.RowFormatWriter;
import dev.stoker.formats.RowOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/** Writes Parquet files with parquet-java's encoders, without Hadoop. */
public final class ParquetRowWriter implements RowFormatWriter {
    @Override
    public String name() {
        return "parquet";
    }

    @Override
    public List<String> compressions() {
        return List.of("zstd", "snappy", "gzip", "none");
    }

    @Override
    public String ending(String compression) {
        return ".parquet";
    }

    @Override
    public List<String> problems(OutputTable table) {
        return List.of();
    }

    @Override
    public String type(OutputColumn column) {
        return OutputType.of(column.type()).toString();
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new ParquetOutput(out, table, ParquetOutput.GROUP_BYTES);
    }
}
