package dev.stoker.formats.parquet.write;

import dev.stoker.formats.block.BlockCompressor;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.page.PageWriteStore;
import org.apache.parquet.column.page.PageWriter;

/** The pages of a row group that is being written. For one thread. */
final class GroupPages implements PageWriteStore {
    private final List<ColumnDescriptor> descriptors;
    private final List<ColumnPages> chunks = new ArrayList<>();

    GroupPages(List<ColumnDescriptor> descriptors, List<BlockCompressor> codecs) {
        this.descriptors = descriptors;
        for (int c = 0; c < codecs.size(); c++) {
            chunks.add(new ColumnPages(descriptors.get(c), codecs.get(c)));
        }
    }

    /** Returns the column chunks in the order of the schema. */
    List<ColumnPages> chunks() {
        return chunks;
    }

    @Override
    public PageWriter getPageWriter(ColumnDescriptor descriptor) {
        return chunks.get(descriptors.indexOf(descriptor));
    }

    @Override
    public void close() {}
}
