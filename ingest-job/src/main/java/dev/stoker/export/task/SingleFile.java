package dev.stoker.export.task;

import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.formats.write.RowOutput;
import dev.stoker.storage.ObjectOutput;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;

/** A shard that is one file. For one thread. */
final class SingleFile implements ShardOutput {
    private final ObjectWriter object;
    private final ObjectOutput stream;
    private final RowOutput rows;
    private long bytes;

    SingleFile(ObjectWriter object, RowFormatWriter format, OutputTable table) throws IOException {
        this.object = object;
        this.stream = new ObjectOutput(object);
        try {
            this.rows = format.open(stream, table);
        } catch (IOException | RuntimeException e) {
            object.close();
            throw e;
        }
    }

    @Override
    public void write(RowBatch batch) throws IOException {
        rows.write(batch);
    }

    @Override
    public void commit() throws IOException {
        rows.finish();
        stream.flush();
        bytes = object.position();
        object.commit();
    }

    @Override
    public long files() {
        return 1;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void close() throws IOException {
        try {
            rows.close();
        } finally {
            object.close();
        }
    }
}
