package dev.stoker.ingest.rows.pack;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the values of rows outside the heap while Flink sorts their keys. Flink would copy each row five times between
 * the tasks, and write it to disk. This is possible only if all tasks run in this process: tasks in other processes
 * find nothing here, and rows travel with their values. Memory is taken in slabs and given back at the end. Any thread
 * may call it.
 */
public final class HeldRows implements AutoCloseable {
    private static final Map<String, HeldRows> HELD = new ConcurrentHashMap<>();

    private static final int SLAB_BYTES = 8 << 20;

    /** The sort is as fast for the values of smaller rows as for places of values. */
    private static final int MIN_BYTES = 1 << 10;

    private final String ingest;
    private final long limitBytes;

    /** Guarded by this. */
    private final List<ByteBuffer> slabs = new ArrayList<>();

    /** Guarded by this. */
    private long usedBytes;

    private volatile boolean isFull;

    private HeldRows(String ingest, long limitBytes) {
        this.ingest = ingest;
        this.limitBytes = limitBytes;
    }

    /**
     * Opens the memory for the rows of an ingest. Closing it takes it away from the tasks.
     *
     * @param limitBytes memory that it may take
     */
    public static HeldRows open(String ingest, long limitBytes) {
        HeldRows held = new HeldRows(ingest, limitBytes);
        HELD.put(ingest, held);
        return held;
    }

    public static Optional<HeldRows> find(String ingest) {
        return Optional.ofNullable(HELD.get(ingest));
    }

    /** Returns half of the memory outside the heap that this JVM may use. */
    public static long defaultLimitBytes() {
        try {
            HotSpotDiagnosticMXBean vm = ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);
            long set = Long.parseLong(vm.getVMOption("MaxDirectMemorySize").getValue());
            return (set > 0 ? set : Runtime.getRuntime().maxMemory()) / 2;
        } catch (RuntimeException e) {
            // This JVM has no such bean. Like all JVMs, it may use as much memory as its heap by default.
            return Runtime.getRuntime().maxMemory() / 2;
        }
    }

    /**
     * Where the values of a row are.
     *
     * @param slab number of the slab
     * @param offset of the first byte
     * @param length number of bytes
     */
    record Place(int slab, int offset, int length) {
        byte[] toBytes() {
            return ByteBuffer.allocate(3 * Integer.BYTES)
                    .putInt(slab)
                    .putInt(offset)
                    .putInt(length)
                    .array();
        }

        public static Place of(byte[] bytes) {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            return new Place(in.getInt(), in.getInt(), in.getInt());
        }
    }

    private record Slab(int number, ByteBuffer bytes) {}

    private @Nullable Slab allocate(int bytes) {
        synchronized (this) {
            if (isFull || bytes > limitBytes - usedBytes) {
                isFull = true;
                return null;
            }
            usedBytes += bytes;
        }
        ByteBuffer slab;
        try {
            slab = ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
        } catch (OutOfMemoryError e) {
            // Something else uses the memory. The sort goes through the disk instead.
            isFull = true;
            return null;
        }
        synchronized (this) {
            slabs.add(slab);
            return new Slab(slabs.size() - 1, slab);
        }
    }

    /** Returns the values at a place. */
    public synchronized ByteBuffer get(Place place) {
        return slabs.get(place.slab()).slice(place.offset(), place.length()).order(ByteOrder.LITTLE_ENDIAN);
    }

    synchronized long usedBytes() {
        return usedBytes;
    }

    @Override
    public void close() {
        HELD.remove(ingest, this);
    }

    /** Takes the rows of one task, one after the other. For one thread. */
    final class Writer {
        private @Nullable Slab slab;
        private int start;

        /** Begins a row. Returns memory, to be written from its position on; null if there is none. */
        @Nullable
        public ByteBuffer begin() {
            if (slab == null) {
                return next(SLAB_BYTES);
            }
            start = slab.bytes().position();
            return slab.bytes();
        }

        /** Returns new memory for the present row, which does not fit; null if there is none. */
        @Nullable
        public ByteBuffer next(int bytes) {
            slab = allocate(Math.max(SLAB_BYTES, bytes));
            start = 0;
            return slab == null ? null : slab.bytes();
        }

        /** Keeps the present row, which is in this memory. Returns its place; empty if it is too small to be kept. */
        public Optional<Place> end() {
            if (slab == null) {
                return Optional.empty();
            }
            int length = slab.bytes().position() - start;
            if (length < MIN_BYTES) {
                slab.bytes().position(start);
                return Optional.empty();
            }
            return Optional.of(new Place(slab.number(), start, length));
        }
    }
}
