package dev.stoker.metadata.index.build;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.index.run.MappedRun;
import dev.stoker.schemas.index.RunIdentity;
import dev.stoker.schemas.index.RunWriter;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** Makes a run of chunks that no run of the dataset covers. Its file is deleted as soon as it is mapped. */
public final class TemporaryRun {

    private static final int HASHES_IN_MEMORY = 1 << 20;

    private TemporaryRun() {}

    /**
     * Reads the heads of chunks.
     *
     * @param chunks indices of the chunk table
     * @return a run of their rows; empty if there are no chunks
     */
    public static Optional<SampleRun> of(Dataset dataset, ChunkTable table, int[] chunks, BuildThreads threads)
            throws IOException, InterruptedException {
        if (chunks.length == 0) {
            return Optional.empty();
        }
        try (Scratch scratch = new Scratch();
                SpilledHashes hashes = new SpilledHashes(scratch, HASHES_IN_MEMORY)) {
            Path file = scratch.newFile();
            try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
                    RowMerge rows = new RowMerge(
                            new RowCollector(dataset, table, threads, scratch, read -> {}).collect(chunks))) {
                RunWriter writer = new RunWriter(
                        new RunIdentity(table.dataset(), 1, table.version(), 0),
                        part -> {
                            while (part.hasRemaining()) {
                                out.write(part);
                            }
                        },
                        hashes);
                while (rows.next()) {
                    writer.add(rows.key(), 0, rows.key().length, rows.row());
                }
                writer.finish();
            }
            return Optional.of(SampleRun.open(MappedRun.open(file)));
        }
    }
}
