package dev.stoker.export.task;

import dev.stoker.export.spec.Shard;
import dev.stoker.formats.files.FilesWriter;
import dev.stoker.formats.write.OutputTable;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.formats.write.RowFormatWriter;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.storage.ObjectStore;
import java.io.Closeable;
import java.io.IOException;

/** The files of a shard. For one thread. */
interface ShardOutput extends Closeable {
    /**
     * Begins a shard. An attempt that failed, perhaps in another task, may have written some of its files.
     *
     * @param paths the paths of the keys of the version
     */
    static ShardOutput open(ExportWork work, Shard shard, ObjectStore files, OutputTable table, DirectoryPaths paths)
            throws IOException {
        if (work.content().format().equals(FilesWriter.NAME)) {
            String directory = work.splitDirectories() ? Shard.safe(shard.split()) + "/" : "";
            return new TreeOfFiles(files, directory, table, paths);
        }
        RowFormatWriter format = Writers.of(work.content()).orElseThrow();
        String name = shard.name(format.ending(work.content().compression()));
        files.delete(name);
        return new SingleFile(files.write(name), format, table);
    }

    void write(RowBatch rows) throws IOException;

    /** Makes the files durable. Must be the last call before {@link #close}. */
    void commit() throws IOException;

    /** Returns the number of files. */
    long files();

    /** Returns the bytes of the files. */
    long bytes();
}
