package dev.stoker.ingest.rows.pack;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.flink.failure.Patience;
import dev.stoker.formats.BadValueException;
import dev.stoker.formats.ValueSink;
import dev.stoker.ingest.pack.Splits;
import dev.stoker.ingest.rows.read.RowWork;
import dev.stoker.metadata.chunks.ChunkOutput;
import dev.stoker.metadata.chunks.OpenChunks;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.RowBlock;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** Packs rows into chunks and reports the chunks. For one thread. */
final class RowChunks {
    private final OpenChunks open;
    private final Splits splits;
    private final int chunkSizeBytes;
    private final FieldSink sink;
    private final int[] places;
    private final Consumer<PackReport> output;
    private final UsedClasses classes = new UsedClasses();
    private final Deque<End> ends = new ArrayDeque<>();
    private int chunks;
    private int reported;

    /**
     * The end of a place in the version's order.
     *
     * @param place its number
     * @param chunks number of chunks up to its end
     */
    private record End(int place, long chunks) {}

    /** Gives the values of the present row. */
    interface Values {
        /** Gives the value of a mapped field. */
        void value(int mapped, ValueSink sink) throws BadValueException, IOException;
    }

    RowChunks(RowWork work, ObjectStore store, Consumer<PackReport> output) throws IOException {
        DatasetInfo info = work.info();
        Patience patience = Patience.ofBatchAtWork();
        List<Field> fields = info.fields();
        List<String> names = fields.stream().map(Field::name).toList();
        this.places = work.mapping().fields().stream()
                .mapToInt(mapped -> names.indexOf(mapped.field()))
                .toArray();
        this.sink =
                new FieldSink(fields, "leave such rows out with --on-error skip, or select the others with --where");
        this.splits = new Splits(work.splitRule());
        this.output = output;
        this.chunkSizeBytes = work.chunkSizeBytes();
        this.open = new OpenChunks(
                fields,
                work.chunkSizeBytes(),
                new ChunkOutput(store, info.id(), work.ingest(), (what, attempt) -> patience.run(what, attempt::run)),
                "stoker-write");
    }

    /**
     * Adds a row.
     *
     * @param split of the row; empty for the split rule
     * @param size bytes of its values of variable length
     * @throws BadValueException if a value does not fit; nothing is added
     */
    void add(byte[] key, String split, long size, Values values)
            throws BadValueException, IOException, InterruptedException {
        ChunkBuilder builder = open.forSample(split.isEmpty() ? splits.of(key) : split, size);
        boolean isComplete = false;
        builder.beginRow(new String(key, StandardCharsets.UTF_8));
        try {
            sink.begin(builder);
            for (int mapped = 0; mapped < places.length; mapped++) {
                values.value(mapped, sink.at(places[mapped]));
            }
            builder.endRow();
            isComplete = true;
        } catch (IllegalStateException e) {
            throw new BadValueException(ErrorText.of(e));
        } finally {
            if (!isComplete) {
                builder.abandonRow();
            }
        }
    }

    /**
     * Adds rows of a block, as if they were added one by one.
     *
     * @param rows number of rows
     * @param split of the rows; empty for the split rule, which must give them the same one
     */
    void add(RowBlock block, int rows, String split) throws IOException, InterruptedException {
        String name = split.isEmpty() ? splits.of(Arrays.copyOf(block.keys(), block.keyEnds()[0])) : split;
        for (int from = 0; from < rows; ) {
            ChunkBuilder builder = open.forSample(name, 0);
            int count = Math.max(1, builder.roomFor(block, from, rows - from, chunkSizeBytes));
            builder.addRows(block, from, count);
            from += count;
        }
    }

    /**
     * Reports the chunks that are durable.
     *
     * @param place the place in the version's order of chunks that no {@link #end} has given one
     */
    void report(int place) {
        for (ChunkSummary chunk : open.takeChunks()) {
            while (!ends.isEmpty() && ends.element().chunks() == chunks) {
                ends.remove();
                reported = 0;
            }
            int its = ends.isEmpty() ? place : ends.element().place();
            output.accept(new PackReport.Chunk(its, reported++, chunk));
            chunks++;
        }
        classes.add(open.takeUsed());
    }

    /**
     * Ends a place in the version's order. The next chunk is number 0 of another place. Does not wait until the chunks
     * of this one are durable.
     */
    void end(int place) throws IOException, InterruptedException {
        ends.add(new End(place, open.writeAll()));
        report(place);
    }

    /** Writes all rows, waits until they are durable, and reports the chunks. */
    void flush(int place) throws IOException, InterruptedException {
        open.flush();
        report(place);
    }

    /** Returns the number of chunks that were reported. */
    int chunks() {
        return chunks;
    }

    /** Returns the classes that those chunks use. */
    UsedClasses classes() {
        return classes;
    }

    void close() throws InterruptedException {
        open.close();
    }
}
