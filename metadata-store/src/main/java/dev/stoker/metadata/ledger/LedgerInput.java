package dev.stoker.metadata.ledger;

import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.RangeStream;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads a ledger file from its first byte to its listed length. Not thread-safe. */
public final class LedgerInput extends RangeStream {

    private static final int BUFFER_BYTES = 1 << 18;

    private final ObjectStore store;
    private final ObjectInfo file;
    private final ByteBuffer start;

    /** @param start the first bytes, as returned by {@link #start} */
    public LedgerInput(ObjectStore store, ObjectInfo file, ByteBuffer start) {
        super(Math.max(1, start.remaining()));
        this.store = store;
        this.file = file;
        this.start = start;
    }

    /** Reads the first bytes of a file, usually all of them. */
    public static ByteBuffer start(ObjectStore store, ObjectInfo file) throws IOException {
        ByteBuffer start = ByteBuffer.allocate((int) Math.min(BUFFER_BYTES, file.length()));
        if (start.hasRemaining()) {
            store.read(file.name(), 0, start);
        }
        return start.flip();
    }

    @Override
    protected void read(long offset, ByteBuffer target) throws IOException {
        int count = (int) Math.min(target.remaining(), file.length() - offset);
        if (offset == 0) {
            target.put(start);
        } else if (count > 0) {
            store.read(file.name(), offset, target.limit(target.position() + count));
        }
    }
}
