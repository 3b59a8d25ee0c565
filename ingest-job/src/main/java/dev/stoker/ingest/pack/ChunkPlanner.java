package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.ingest.pack.sync.StoredRow;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a sequence of files into chunks, with one open chunk for each split. Depends only on the sequence, so a repeated
 * run produces the same chunks. For one thread.
 */
final class ChunkPlanner {

    private final Splits splits;
    private final long chunkSizeBytes;
    private final Consumer<PlannedChunk> output;
    private final Map<String, PlannedChunk> open = new TreeMap<>();

    ChunkPlanner(Splits splits, long chunkSizeBytes, Consumer<PlannedChunk> output) {
        this.splits = splits;
        this.chunkSizeBytes = chunkSizeBytes;
        this.output = output;
    }

    void add(FileEntry file) {
        add(file, null);
    }

    /** @param replaces the sample of the dataset that the file replaces, if any */
    void add(FileEntry file, @Nullable StoredRow replaces) {
        String split = splits.of(file.key());
        PlannedChunk chunk = open.computeIfAbsent(split, PlannedChunk::new);
        if (!chunk.isEmpty() && chunk.lengthWith(file) > chunkSizeBytes) {
            output.accept(chunk);
            chunk = new PlannedChunk(split);
            open.put(split, chunk);
        }
        chunk.add(file, replaces);
    }

    /** Passes on the open chunks. */
    void flush() {
        open.values().stream().filter(chunk -> !chunk.isEmpty()).forEach(output);
        open.clear();
    }
}
