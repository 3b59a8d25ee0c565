package dev.stoker.formats.avro;

import dev.stoker.formats.FileHead;
import dev.stoker.formats.ReadLimits;
import dev.stoker.formats.RowFile;
import dev.stoker.formats.RowFormat;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;

/** Avro container files. */
public final class AvroFormat implements RowFormat {
    private final long partBytes;

    public AvroFormat() {
        this(AvroRowFile.PART_BYTES);
    }

    AvroFormat(long partBytes) {
        this.partBytes = partBytes;
    }

    @Override
    public String name() {
        return "avro";
    }

    @Override
    public boolean recognises(FileHead file) {
        return file.begins(AvroContainer.MAGIC);
    }

    @Override
    public RowFile open(RangeReader file, ReadLimits limits) throws IOException {
        return new AvroRowFile(file, limits, partBytes);
    }
}
