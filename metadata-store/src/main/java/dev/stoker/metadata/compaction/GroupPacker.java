package dev.stoker.metadata.compaction;

import dev.stoker.metadata.chunks.ChunkOutput;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.metadata.work.PieceWorker;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Rewrites one group after the other. Reuses its memory for the files of a group and for the chunk that is being built.
 * For one thread at a time.
 */
final class GroupPacker implements PieceWorker<WrittenGroup> {

    /** The approximate size of schema, footer and padding of a file. */
    private static final long FRAME_BYTES = 4096;

    private final Packing packing;
    private final ExecutorService reads;
    private final int chunkSize;
    private final int payloadFields;
    private final ByteBuffer memory;
    private final ChunkBuilder builder;
    private final ChunkOutput output;

    /** Of the group in work; the last one may be unfinished. */
    private final List<UUID> begun = new ArrayList<>();

    private ArrayList<ChunkSummary> chunks = new ArrayList<>();
    private UsedClasses used = new UsedClasses();

    /** @param reads number of chunks that are read at a time */
    GroupPacker(Packing packing, int reads) {
        this.packing = packing;
        this.reads = Executors.newFixedThreadPool(reads, GroupPacker::thread);
        this.chunkSize = packing.plan().rules().chunkSizeBytes();
        List<Field> fields = packing.fields();
        this.payloadFields = (int) fields.stream().filter(Field::payload).count();
        this.memory = ByteBuffer.allocateDirect(packing.plan().longestGroup());
        this.builder = new ChunkBuilder(fields, chunkSize);
        this.output = new ChunkOutput(
                packing.dataset().store(),
                packing.dataset().info().id(),
                packing.ingest(),
                packing.began(),
                begun::add);
    }

    private static Thread thread(Runnable work) {
        Thread thread = new Thread(work, "stoker-read");
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Reads a group and writes its new chunks. The returned chunks are durable. Deletes them if it fails.
     *
     * @param number of the group in the plan
     */
    @Override
    public WrittenGroup run(int number) throws IOException, InterruptedException {
        begun.clear();
        try {
            pack(packing.plan().groups().get(number));
            return new WrittenGroup(number, chunks, used.names());
        } catch (IOException | InterruptedException | RuntimeException e) {
            UnusedChunks.delete(packing.dataset().store(), begun);
            throw e;
        }
    }

    private void pack(ChunkGroup group) throws IOException, InterruptedException {
        chunks = new ArrayList<>();
        used = new UsedClasses();
        builder.reset();
        List<LoadedChunk> loaded = load(group);
        GroupRows rows = GroupRows.of(loaded, packing.plan().rules().shuffleSeed());
        long total = 0;
        for (int n = 0; n < rows.count(); n++) {
            total += rowBytes(loaded.get(rows.chunk(n)).head(), rows.row(n));
        }
        // Chunks of similar length are better than full ones and a short one, which the next compaction would select.
        long room = Math.max(1, chunkSize - FRAME_BYTES);
        long targets = Math.max(1, (total + room - 1) / room);
        long done = 0;
        long written = 0;
        for (int n = 0; n < rows.count(); n++) {
            LoadedChunk chunk = loaded.get(rows.chunk(n));
            long bytes = rowBytes(chunk.head(), rows.row(n));
            boolean isShareFull = (double) done * targets / total >= written + 1;
            if (builder.rows() > 0 && (isShareFull || builder.lengthWith(bytes) > chunkSize)) {
                write(group.split());
                written++;
            }
            add(chunk, rows.row(n));
            done += bytes;
        }
        write(group.split());
    }

    @Override
    public void close() {
        reads.shutdownNow();
    }

    private List<LoadedChunk> load(ChunkGroup group) throws IOException, InterruptedException {
        List<Future<LoadedChunk>> reading = new ArrayList<>();
        int at = 0;
        for (ReplacedChunk source : group.sources()) {
            int length = (int) source.summary().length();
            ByteBuffer place = memory.slice(at, length);
            at += length;
            int[] removed = packing.plan().table().removedRows(source.index());
            reading.add(reads.submit(() -> LoadedChunk.read(packing.dataset().store(), source, removed, place)));
        }
        List<LoadedChunk> loaded = new ArrayList<>();
        for (Future<LoadedChunk> read : reading) {
            try {
                loaded.add(read.get());
            } catch (ExecutionException e) {
                throw PoolFailures.rethrown(e);
            }
        }
        return loaded;
    }

    private long rowBytes(ChunkHead head, int row) {
        // The checksums of payload fields are not part of a batch.
        return head.rowBytes(row) + 4L * payloadFields;
    }

    private void add(LoadedChunk chunk, int row) throws IOException {
        ChunkHead head = chunk.head();
        List<Field> fields = head.fields();
        builder.beginRow(head.key(row));
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).payload() && head.column(f).isNull(row)) {
                builder.setNull(f);
            } else if (fields.get(f).payload()) {
                builder.setBytes(f, chunk.payload(f, row));
            } else {
                builder.setFrom(f, head, row);
            }
        }
        builder.endRow();
    }

    private void write(String split) throws IOException, InterruptedException {
        if (builder.rows() == 0) {
            return;
        }
        PackedChunk chunk = output.write(builder, split);
        chunks.add(chunk.summary());
        used.add(chunk);
        builder.reset();
    }
}
