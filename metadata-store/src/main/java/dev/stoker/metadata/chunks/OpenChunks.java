package dev.stoker.metadata.chunks;

import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The chunks that a packing task is filling, one for each split, and the chunks that are being written meanwhile. One
 * thread fills them; it or separate threads write.
 */
public final class OpenChunks {

    /** The number of chunks that are written while others are filled, because a sync to disk is a wait. */
    private static final int WRITERS = 2;

    private final List<Field> fields;
    private final int chunkSizeBytes;
    private final ChunkOutput output;
    private final @Nullable ExecutorService writers;
    private final Map<String, ChunkBuilder> open = new TreeMap<>();
    private final Deque<ChunkBuilder> free = new ArrayDeque<>();
    private final Deque<Future<Written>> inWork = new ArrayDeque<>();

    private List<ChunkSummary> chunks = new ArrayList<>();
    private long begun;
    private UsedClasses used = new UsedClasses();

    /** A durable chunk, and its builder, which can be reused. */
    private record Written(PackedChunk chunk, ChunkBuilder builder) {}

    private OpenChunks(List<Field> fields, int chunkSizeBytes, ChunkOutput output, @Nullable ExecutorService writers) {
        this.fields = fields;
        this.chunkSizeBytes = chunkSizeBytes;
        this.output = output;
        this.writers = writers;
    }

    /** The thread that fills the chunks writes them. */
    public OpenChunks(List<Field> fields, int chunkSizeBytes, ChunkOutput output) {
        this(fields, chunkSizeBytes, output, (ExecutorService) null);
    }

    /**
     * Other threads write the chunks.
     *
     * @param name of the threads
     */
    public OpenChunks(List<Field> fields, int chunkSizeBytes, ChunkOutput output, String name) {
        this(fields, chunkSizeBytes, output, Executors.newFixedThreadPool(WRITERS, work -> {
            Thread thread = new Thread(work, name);
            thread.setDaemon(true);
            return thread;
        }));
    }

    /** A builder of the split with room for a sample. */
    public ChunkBuilder forSample(String split, long bytes) throws IOException, InterruptedException {
        ChunkBuilder builder = open.get(split);
        if (builder != null && builder.rows() > 0 && builder.lengthWith(bytes) > chunkSizeBytes) {
            write(split, builder);
            builder = null;
        }
        if (builder == null) {
            builder = free.isEmpty() ? new ChunkBuilder(fields, chunkSizeBytes) : free.pop();
            open.put(split, builder);
        }
        return builder;
    }

    private void write(String split, ChunkBuilder builder) throws IOException, InterruptedException {
        open.remove(split);
        collect(WRITERS - 1);
        begun++;
        if (writers == null) {
            add(output.write(builder, split), builder);
        } else {
            inWork.add(writers.submit(() -> new Written(output.write(builder, split), builder)));
        }
    }

    /** Collects written chunks, and waits until no more than {@code most} are in progress. */
    private void collect(int most) throws IOException, InterruptedException {
        while (!inWork.isEmpty() && (inWork.size() > most || inWork.peek().isDone())) {
            Written written;
            try {
                written = inWork.remove().get();
            } catch (ExecutionException e) {
                if (e.getCause() instanceof IOException failure) {
                    throw failure;
                }
                throw new IOException("failed to write a chunk: " + e.getCause(), e.getCause());
            }
            add(written.chunk(), written.builder());
        }
    }

    /** Adds a durable chunk. */
    private void add(PackedChunk chunk, ChunkBuilder builder) {
        chunks.add(chunk.summary());
        used.add(chunk);
        // The memory of an oversized chunk is not kept for ordinary chunks.
        if (chunk.summary().length() <= 2L * chunkSizeBytes) {
            builder.reset();
            free.push(builder);
        }
    }

    /** Writes all open chunks and waits until they are durable. */
    public void flush() throws IOException, InterruptedException {
        writeAll();
        collect(0);
    }

    /**
     * Lets the writers write all open chunks, and does not wait until they are durable.
     *
     * @return the number of chunks that the writers have received since the beginning
     */
    public long writeAll() throws IOException, InterruptedException {
        for (Map.Entry<String, ChunkBuilder> entry : List.copyOf(open.entrySet())) {
            if (entry.getValue().rows() > 0) {
                write(entry.getKey(), entry.getValue());
            }
        }
        return begun;
    }

    /** The chunks that became durable since the last call, in the order in which they were filled. */
    public List<ChunkSummary> takeChunks() {
        List<ChunkSummary> taken = chunks;
        chunks = new ArrayList<>();
        return taken;
    }

    /** The classes that those chunks use; call it after {@link #takeChunks}. */
    public UsedClasses takeUsed() {
        UsedClasses taken = used;
        used = new UsedClasses();
        return taken;
    }

    /** Ends the threads; chunks that are not durable are lost. */
    public void close() throws InterruptedException {
        if (writers == null) {
            return;
        }
        // The report of a thread that still writes would be lost, and the thread must not outlive the store.
        writers.shutdownNow();
        writers.awaitTermination(30, TimeUnit.SECONDS);
    }
}
