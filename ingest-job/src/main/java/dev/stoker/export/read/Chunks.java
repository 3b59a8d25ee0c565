package dev.stoker.export.read;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The chunks of a split that are in use, with verified heads: mapped if they are files of this machine, otherwise in
 * memory, whole or without payload. For one thread.
 */
final class Chunks {
    /** Mappings are released by the garbage collector; a process may have 65,530 by default. */
    private static final int MAX_MAPPED = 2048;

    private final ObjectStore store;
    private final Snapshot snapshot;
    private final StreamChunks stream;
    private final BatchBuilder builder;
    private final long memoryBytes;
    private final Map<Integer, Held> used = new LinkedHashMap<>(16, 0.75f, true);
    private long usedBytes;

    /** The part of a chunk that is needed. */
    enum Part {
        /** Everything except payload. */
        HEAD,
        WHOLE
    }

    /**
     * A chunk in use.
     *
     * @param memoryBytes its bytes in memory; 0 for a mapped file
     */
    private record Held(BatchChunk chunk, long memoryBytes) {}

    /** @param memoryBytes for chunks that are not files of this machine */
    Chunks(ObjectStore store, Snapshot snapshot, StreamChunks stream, BatchBuilder builder, long memoryBytes) {
        this.store = store;
        this.snapshot = snapshot;
        this.stream = stream;
        this.builder = builder;
        this.memoryBytes = memoryBytes;
    }

    /**
     * Returns a chunk.
     *
     * @param index in the stream
     * @param part without the whole chunk, its bytes may be null
     */
    BatchChunk get(int index, Part part) throws IOException {
        Held known = used.get(index);
        if (known != null && (part == Part.HEAD || known.chunk.bytes() != null)) {
            return known.chunk;
        }
        remove(index);
        ChunkSummary summary = snapshot.table().summary(snapshot.table().indexOf(stream.ordinal(index)));
        String name = ChunkNames.path(summary.id());
        Optional<Path> file = store.localPath(name);
        long memory = file.isPresent() ? 0 : part == Part.HEAD ? summary.headLength() : summary.length();
        makeRoom(memory);
        BatchChunk chunk = file.isEmpty() && part == Part.HEAD
                ? chunk(ChunkHeads.read(store, summary), null)
                : whole(name, file, summary);
        used.put(index, new Held(chunk, memory));
        usedBytes += memory;
        return chunk;
    }

    private void remove(int index) {
        Held removed = used.remove(index);
        usedBytes -= removed == null ? 0 : removed.memoryBytes;
    }

    private void makeRoom(long bytes) {
        Iterator<Held> oldest = used.values().iterator();
        while (oldest.hasNext() && (usedBytes + bytes > memoryBytes || used.size() >= MAX_MAPPED)) {
            usedBytes -= oldest.next().memoryBytes;
            oldest.remove();
        }
    }

    private BatchChunk whole(String name, Optional<Path> file, ChunkSummary summary) throws IOException {
        ByteBuffer bytes = read(name, file, summary);
        return chunk(OverlayReader.headIn(bytes, summary, store.describe(name), ChunkHeads.overlays(store)), bytes);
    }

    private BatchChunk chunk(ChunkHead head, @Nullable ByteBuffer bytes) throws IOException {
        return builder.chunk(head, bytes, 0, classIds(head));
    }

    private ByteBuffer read(String name, Optional<Path> file, ChunkSummary summary) throws IOException {
        if (file.isEmpty()) {
            ByteBuffer bytes = ByteBuffer.allocate(Math.toIntExact(summary.length()));
            store.read(name, 0, bytes);
            return bytes.flip();
        }
        try (FileChannel channel = FileChannel.open(file.get(), StandardOpenOption.READ)) {
            if (channel.size() != summary.length()) {
                throw CorruptDataException.mismatch(
                        store.describe(name), "file length", summary.length(), channel.size());
            }
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, summary.length());
        } catch (NoSuchFileException e) {
            NoSuchObjectException missing = new NoSuchObjectException(store.describe(name));
            missing.initCause(e);
            throw missing;
        }
    }

    private int[][] classIds(ChunkHead head) {
        int[][] ids = new int[head.fields().size()][];
        for (int f = 0; f < ids.length; f++) {
            if (head.fields().get(f).type() == ScalarType.CATEGORICAL) {
                List<String> names = head.classes(f);
                ids[f] = new int[names.size()];
                for (int i = 0; i < ids[f].length; i++) {
                    String field = head.fields().get(f).name();
                    ids[f][i] = snapshot.classes().id(field, names.get(i)).orElseThrow();
                }
            }
        }
        return ids;
    }
}
