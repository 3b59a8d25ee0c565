package dev.stoker.server.window;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.table.ClassTable;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An opened stream: a pinned version of a split, and where its chunks come from.
 *
 * @param name the stream's name
 * @param dataset the dataset's id
 * @param datasetName the dataset's name
 * @param version the pinned version
 * @param split the split
 * @param chunks all chunks of the split at that version
 * @param fields in dataset order; by default all of the version
 * @param classes the version's class names
 * @param source where chunks are read
 * @param selector selects rows of the stream
 */
public record ServedStream(
        String name,
        UUID dataset,
        String datasetName,
        long version,
        String split,
        StreamChunks chunks,
        List<Field> fields,
        ClassTable classes,
        ChunkSource source,
        Selector selector) {
    /** Selects the rows for which the condition of an order is true. */
    @FunctionalInterface
    public interface Selector {
        /**
         * Returns the chunks of the stream with the selected rows.
         *
         * @param where canonical text of the condition
         * @throws IllegalArgumentException if the condition does not fit the fields, or selects no row
         */
        StreamChunks select(String where) throws IOException;
    }

    /** A stream of which all rows are served. */
    public ServedStream(
            String name,
            UUID dataset,
            String datasetName,
            long version,
            String split,
            StreamChunks chunks,
            List<Field> fields,
            ClassTable classes,
            ChunkSource source) {
        this(name, dataset, datasetName, version, split, chunks, fields, classes, source, where -> {
            throw new IllegalArgumentException("all rows of stream " + name + " are served");
        });
    }

    public ServedStream {
        fields = List.copyOf(fields);
    }

    /** Returns this stream with other fields. A sample has nulls in a small field that the version does not have. */
    public ServedStream with(List<Field> others) {
        return new ServedStream(name, dataset, datasetName, version, split, chunks, others, classes, source, selector);
    }

    /**
     * Returns the chunks with the rows of an order.
     *
     * @throws IllegalArgumentException if its condition does not fit the fields, or selects no row
     */
    StreamChunks chunks(OrderSpec spec) throws IOException {
        return spec.where().isEmpty() ? chunks : selector.select(spec.where());
    }

    /** The file of a live chunk, by its index in {@link #chunks}. */
    public ListedChunk file(int chunk) {
        UUID id = chunks.id(chunk);
        return new ListedChunk(id, ChunkNames.path(id), chunks.length(chunk), chunks.crc32c(chunk));
    }

    /** The overlay of a live chunk, which the source reads and caches like a chunk; null if it has none. */
    public @Nullable ListedChunk overlay(int chunk) {
        ChunkOverlay overlay = chunks.overlay(chunk);
        return overlay == null
                ? null
                : new ListedChunk(
                        overlay.id(),
                        ChunkNames.overlayPath(overlay.id()),
                        Math.toIntExact(overlay.length()),
                        overlay.crc32c());
    }

    /** The files of a live chunk: its own, and that of its overlay. */
    List<ListedChunk> files(int chunk) {
        ListedChunk overlay = overlay(chunk);
        return overlay == null ? List.of(file(chunk)) : List.of(file(chunk), overlay);
    }
}
