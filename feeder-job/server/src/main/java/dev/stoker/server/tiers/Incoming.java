package dev.stoker.server.tiers;

import dev.stoker.server.chunks.DirectMemory;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.storage.PartSink;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The destination of a chunk that is being read: its place in a tier, if the tier accepts parts, else direct memory. If
 * the tier fails halfway, the chunk continues in memory, and nothing is read again. For one thread, which closes it.
 */
final class Incoming implements PartSink, AutoCloseable {
    private final ListedChunk chunk;
    private final Optional<Placement.Slot> slot;
    /** Null unless the chunk is being written to a tier. */
    private @Nullable Arrival arrival;
    /** Null unless the chunk is being written to memory. */
    private @Nullable ByteBuffer memory;

    Incoming(ListedChunk chunk, Optional<Placement.Slot> slot) throws IOException {
        this.chunk = chunk;
        this.slot = slot;
        this.arrival = slot.flatMap(Placement.Slot::receive).orElse(null);
        if (arrival == null) {
            memory = allocate(chunk);
        }
    }

    @Override
    public void put(long offset, ByteBuffer part) {
        if (arrival != null) {
            int position = part.position();
            try {
                arrival.put(offset, part);
                return;
            } catch (UncheckedIOException e) {
                part.position(position);
                slot.orElseThrow().cancel();
                leave(offset);
            }
        }
        inMemory().clear().position((int) offset).put(part);
    }

    /** Continues in memory, after copying this number of received bytes out of the tier. */
    private void leave(long bytes) {
        Arrival left = Objects.requireNonNull(arrival, "called only while the tier receives");
        try {
            memory = allocate(chunk);
            left.copyTo(memory.duplicate().limit((int) bytes));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            left.close();
            arrival = null;
        }
    }

    private ByteBuffer inMemory() {
        return Objects.requireNonNull(memory, "a chunk without an arrival is in memory");
    }

    /**
     * Keeps the chunk, which was checked, in the tier.
     *
     * @return whether the tier has it now
     */
    boolean keep() {
        return arrival != null && slot.orElseThrow().keep(arrival);
    }

    /** Returns the bytes of the chunk, which is complete. The caller frees them. */
    ByteBuffer take() throws IOException {
        if (arrival != null) {
            slot.orElseThrow().cancel();
            try {
                leave(chunk.length());
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }
        ByteBuffer taken = inMemory().clear();
        memory = null;
        return taken;
    }

    private static ByteBuffer allocate(ListedChunk chunk) throws IOException {
        try {
            return ByteBuffer.allocateDirect(chunk.length());
        } catch (OutOfMemoryError e) {
            // Direct memory, not the heap, is exhausted. The failure is temporary: it ends when other chunks were sent.
            throw new IOException(
                    "no direct memory is left for " + chunk + ": raise taskmanager.memory.task.off-heap.size, or"
                            + " -XX:MaxDirectMemorySize outside of a cluster",
                    e);
        }
    }

    @Override
    public void close() {
        if (arrival != null) {
            arrival.close();
        }
        if (memory != null) {
            DirectMemory.free(memory);
        }
    }
}
