package dev.stoker.storage.cloud;

import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes an object. An object of up to {@value #PIECE_BYTES} bytes is sent by its commit with one request. A larger one
 * is sent in pieces while it is written. Not thread-safe.
 */
final class CloudWriter implements ObjectWriter {
    private static final Logger LOG = LoggerFactory.getLogger(CloudWriter.class);

    /** Size of all pieces but the last. Google requires a multiple of 256 KiB. */
    static final int PIECE_BYTES = 32 << 20;

    private static final int FIRST_BYTES = 1 << 20;

    private final Bucket bucket;
    private final CloudCreator creator;
    private final String name;
    private final String mark = CloudCreator.newMark();
    private byte[] piece = new byte[FIRST_BYTES];
    private int filled;
    private int sent;
    private long position;
    private Bucket.@Nullable Upload upload;
    private boolean done;

    CloudWriter(Bucket bucket, CloudCreator creator, String name) {
        creator.location().key(name);
        this.bucket = bucket;
        this.creator = creator;
        this.name = name;
    }

    private String where() {
        return creator.location().describe(name);
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            if (filled == PIECE_BYTES) {
                send();
            }
            int count = Math.min(bytes.remaining(), PIECE_BYTES - filled);
            if (filled + count > piece.length) {
                piece = Arrays.copyOf(piece, Math.min(PIECE_BYTES, Math.max(filled + count, 2 * piece.length)));
            }
            bytes.get(piece, filled, count);
            filled += count;
            position += count;
        }
    }

    private void send() throws IOException {
        Bucket.Upload open = upload;
        if (open == null) {
            String key = creator.location().key(name);
            open = creator.retries().call("write", where(), () -> bucket.upload(key, mark));
            upload = open;
        }
        Bucket.Upload target = open;
        creator.retries().call("write", where(), () -> {
            target.send(sent, piece);
            return true;
        });
        sent++;
        filled = 0;
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public void commit() throws IOException {
        if (done) {
            throw new IllegalStateException("The writer of " + where() + " is closed or committed");
        }
        done = true;
        Bucket.Upload open = upload;
        boolean created = open == null
                ? creator.createIfAbsent(name, piece, filled)
                : creator.create(name, mark, () -> open.finish(sent, piece, filled));
        if (!created) {
            throw new IOException("Cannot write " + where() + ": it already exists");
        }
    }

    @Override
    public void close() {
        Bucket.Upload open = upload;
        if (done || open == null) {
            done = true;
            return;
        }
        done = true;
        try {
            open.abort();
        } catch (IOException e) {
            LOG.debug("The pieces of {} remain until the store deletes them", where(), e);
        }
    }
}
