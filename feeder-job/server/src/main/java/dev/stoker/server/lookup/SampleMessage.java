package dev.stoker.server.lookup;

import dev.stoker.schemas.batch.BatchBuilder;
import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.batch.BatchMessage;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.DirectMemory;
import dev.stoker.server.window.DamageCheck;
import dev.stoker.server.window.ServedStream;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The record batch message of some samples, in separate memory. Payload is read into the message, and the message is
 * compared with the checksum that follows from the heads. For one thread; {@link #clear} gives the memory back.
 */
final class SampleMessage {
    /** Reads until the samples are found damaged for good, or the message is right. */
    private static final int TRIES = 4;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    /**
     * A sample of the message.
     *
     * @param item index of its item in the answer
     */
    record Row(int item, LookupChunk chunk, int row) {}

    /** Is told of samples that are damaged. They are not in the message. */
    interface OnDamage {
        void damaged(Row row, Exception why);
    }

    /** Bytes of a chunk's file, or zeros if the chunk is null. */
    private record Slice(@Nullable BatchChunk chunk, int position, int length) {}

    private final ServedStream stream;
    private final LookupMemory memory;
    private final LookupThreads threads;
    private final BatchBuilder builder;
    private @Nullable ByteBuffer whole;
    private long taken;
    private int crc32c;

    SampleMessage(ServedStream stream, LookupMemory memory, LookupThreads threads) {
        this.stream = stream;
        this.memory = memory;
        this.threads = threads;
        this.builder = new BatchBuilder(stream.fields());
    }

    /** Returns the message; empty if it has no rows. */
    ByteBuffer bytes() {
        return whole == null ? NOTHING : whole.duplicate();
    }

    int crc32c() {
        return crc32c;
    }

    /**
     * Makes the message of these rows. Removes rows that are damaged.
     *
     * @throws IOException if the origin fails
     */
    void build(List<Row> rows, OnDamage onDamage) throws IOException, InterruptedException {
        for (int i = 0; i < TRIES; i++) {
            clear();
            if (rows.isEmpty()) {
                return;
            }
            if (read(rows)) {
                return;
            }
            check(rows, onDamage);
        }
        throw new IOException("samples of " + stream.name() + " were read " + TRIES
                + " times with a wrong checksum, and each of them with the right one");
    }

    /** Reads the message. Returns whether it has the expected checksum. */
    private boolean read(List<Row> rows) throws IOException, InterruptedException {
        IdentityHashMap<BatchChunk, LookupChunk> chunks = new IdentityHashMap<>();
        BatchChunk[] of = new BatchChunk[rows.size()];
        int[] places = new int[rows.size()];
        int[] numbers = new int[rows.size()];
        for (int i = 0; i < of.length; i++) {
            of[i] = rows.get(i).chunk().rows();
            places[i] = i;
            numbers[i] = rows.get(i).row();
            chunks.put(of[i], rows.get(i).chunk());
        }
        List<Slice> slices = new ArrayList<>();
        ByteBuffer[] small = {NOTHING};
        BatchMessage message = builder.build(
                of,
                places,
                numbers,
                0,
                of.length,
                bytes -> small[0] = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN),
                new BatchBuilder.Slices() {
                    @Override
                    public void slice(BatchChunk chunk, int position, int length) {
                        slices.add(new Slice(chunk, position, length));
                    }

                    @Override
                    public void zeros(int length) {
                        slices.add(new Slice(null, 0, length));
                    }
                });
        memory.take(message.length());
        taken = message.length();
        ByteBuffer out = ByteBuffer.allocateDirect(message.length());
        whole = out;
        out.put(message.parts()[0].duplicate());
        List<LookupThreads.Read> far = new ArrayList<>();
        for (Slice slice : slices) {
            if (slice.chunk() == null) {
                out.put(new byte[slice.length()]);
                continue;
            }
            LookupChunk chunk = Objects.requireNonNull(chunks.get(slice.chunk()), "a chunk of the message");
            ByteBuffer part = out.slice(out.position(), slice.length());
            LookupThreads.Read read = () -> stream.source().readPart(chunk.file(), slice.position(), part);
            if (stream.source().isFar(chunk.file())) {
                far.add(read);
            } else if (!isRead(read)) {
                return false;
            }
            out.position(out.position() + slice.length());
        }
        out.flip();
        if (!far.isEmpty() && !isRead(() -> threads.all(far))) {
            return false;
        }
        crc32c = message.crc32c();
        return Crc32cs.of(out.duplicate()) == crc32c;
    }

    /** Returns whether bytes were read. If not, a check of each sample says which one is damaged. */
    private static boolean isRead(LookupThreads.Read read) throws IOException {
        try {
            read.run();
            return true;
        } catch (CorruptDataException | NoSuchObjectException e) {
            return false;
        }
    }

    /** Reads each sample again, and removes those that stay damaged. */
    private void check(List<Row> rows, OnDamage onDamage) throws IOException {
        for (Iterator<Row> each = rows.iterator(); each.hasNext(); ) {
            Row row = each.next();
            try {
                DamageCheck.verify(stream, row.chunk().file(), row.chunk().head(), row.row());
            } catch (CorruptDataException | NoSuchObjectException e) {
                each.remove();
                onDamage.damaged(row, e);
            }
        }
    }

    /** Gives the memory of the message back. */
    void clear() {
        if (whole != null) {
            DirectMemory.free(whole);
            whole = null;
        }
        if (taken > 0) {
            memory.release(taken);
            taken = 0;
        }
        crc32c = 0;
    }
}
