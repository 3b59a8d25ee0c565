package dev.stoker.formats.parquet.write;

import dev.stoker.formats.write.OutputColumn;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Set;

/** Writes Parquet files with parquet-java's encoders, without Hadoop. */
public final class ParquetRowWriter implements RowFormatWriter {
    private final ParquetLayout layout;

    /** Writes files of which an ingest gives the same fields. */
    public ParquetRowWriter() {
        this(ParquetLayout.STOKER);
    }

    private ParquetRowWriter(ParquetLayout layout) {
        this.layout = layout;
    }

    /**
     * Writes files that the library datasets of Hugging Face reads: images, numbers of classes with their names, and
     * lists.
     *
     * @param images names of the columns in the file that hold images, of type binary
     */
    public static ParquetRowWriter huggingFace(Set<String> images) {
        return new ParquetRowWriter(new ParquetLayout(true, images));
    }

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
        OutputColumn written = layout.column(column);
        if (layout.isImage(written)) {
            return "Image: struct of bytes and path";
        }
        String type = layout.type(written).toString();
        return layout.isHuggingFace() && !written.classes().isEmpty() ? "ClassLabel: " + type : type;
    }

    @Override
    public RowOutput open(OutputStream out, OutputTable table) throws IOException {
        return new ParquetOutput(out, table, layout, ParquetOutput.GROUP_BYTES);
    }
}
