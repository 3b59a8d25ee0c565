package dev.stoker.formats.parquet;

import dev.stoker.formats.FileHead;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.formats.parquet.read.ParquetInput;
import dev.stoker.formats.parquet.read.ParquetRowFile;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;

/** Apache Parquet. */
public final class ParquetFormat implements RowFormat {
    @Override
    public String name() {
        return "parquet";
    }

    /** Recognises the magic at the beginning, so that a truncated file is named as such. */
    @Override
    public boolean recognises(FileHead file) {
        return file.begins(ParquetInput.MAGIC) || file.begins(ParquetInput.ENCRYPTED_MAGIC);
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits) throws IOException {
        return new ParquetRowFile(new ParquetInput(file, limits), limits);
    }
}
