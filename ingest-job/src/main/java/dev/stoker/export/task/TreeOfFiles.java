package dev.stoker.export.task;

import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.UnwritableValueException;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;

/** A shard whose samples are files, named by their keys. For one thread. */
final class TreeOfFiles implements ShardOutput {
    private final ObjectStore store;
    private final String directory;
    private final OutputTable table;
    private final DirectoryPaths paths;
    private final int content;
    private long files;
    private long bytes;

    /**
     * @param directory of all files, with a slash at its end; empty for none
     * @param paths the paths of the keys of the version
     */
    TreeOfFiles(ObjectStore store, String directory, OutputTable table, DirectoryPaths paths) {
        this.store = store;
        this.directory = directory;
        this.table = table;
        this.paths = paths;
        this.content = table.key() == 0 ? 1 : 0;
    }

    @Override
    public void write(RowBatch rows) throws IOException {
        ArrowColumn values = rows.columns().get(content);
        for (int row = 0; row < rows.rows(); row++) {
            String column = table.columns().get(content).name();
            if (values.isNull(row)) {
                throw new UnwritableValueException(
                        table.nameOf(rows, row), column, "it has no value, and an empty file would be another value");
            }
            String key = rows.columns().get(table.key()).stringAt(row);
            write(directory + paths.of(key), values.bytesAt(row));
        }
    }

    private void write(String name, ByteBuffer value) throws IOException {
        try (ObjectWriter writer = store.write(name)) {
            writer.write(value.duplicate());
            writer.commit();
        } catch (IOException e) {
            // An attempt that failed, perhaps in another task, may have written the same file.
            if (!has(name, value, e)) {
                throw e;
            }
        }
        bytes += value.remaining();
        files++;
    }

    private boolean has(String name, ByteBuffer value, IOException failure) {
        try {
            return store.length(name) == value.remaining()
                    && ByteBuffer.wrap(store.readAll(name, value.remaining())).equals(value);
        } catch (IOException e) {
            failure.addSuppressed(e);
            return false;
        }
    }

    @Override
    public void commit() {}

    @Override
    public long files() {
        return files;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public void close() {}
}
