package dev.stoker.formats.webdataset;

import dev.stoker.formats.ColumnHints.Others;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowPart;
import dev.stoker.formats.RowReader;
import dev.stoker.formats.RowSchema;
import dev.stoker.formats.input.ByteInput;
import dev.stoker.formats.input.Compression;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.util.List;

/** An archive. It is one part, as nothing says where its samples begin. */
final class WebDatasetFile implements RowFile {
    private final RangeReader file;
    private final ReadLimits limits;
    private final Compression compression;
    private final RowSchema schema;
    private final Others others;

    WebDatasetFile(RangeReader file, ReadLimits limits, Compression compression, RowSchema schema, Others others) {
        this.file = file;
        this.limits = limits;
        this.compression = compression;
        this.schema = schema;
        this.others = others;
    }

    @Override
    public RowSchema schema() {
        return schema;
    }

    @Override
    public List<RowPart> parts() throws IOException {
        return List.of(new RowPart(0, 0, file.length(), -1, 0));
    }

    @Override
    public RowReader read(RowPart part, int[] columns) throws IOException {
        return new WebDatasetReader(
                ByteInput.open(file, compression, limits), limits, schema.columns(), columns, others);
    }

    /** Does nothing: the caller closes the file. */
    @Override
    public void close() {}
}
