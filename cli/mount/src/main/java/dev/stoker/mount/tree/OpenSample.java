package dev.stoker.mount.tree;

import dev.stoker.metadata.samples.CheckedPayload;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.server.chunks.ChunkBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * An open file: the content of one sample of one version. The first read compares the content with its checksum.
 * Thread-safe; the monitor of this object guards the state, and is held during reads of the content.
 */
public final class OpenSample implements AutoCloseable {

    /** Up to this size, the content is in memory while the file is open, unless one read takes all of it. */
    static final int KEPT_BYTES = 1 << 20;

    private final OpenVersion version;
    private final ContentAddress place;
    private final CheckedPayload value;
    private final int length;
    private @Nullable ByteBuffer content;
    private @Nullable ChunkBytes held;
    private boolean isVerified;
    private boolean isClosed;

    OpenSample(OpenVersion version, ContentAddress place) {
        this.version = version;
        this.place = place;
        this.value = place.value();
        this.length = place.length();
        version.retain();
    }

    /** Returns the number of bytes. */
    public long size() {
        return length;
    }

    /** Returns the time of the last change, in milliseconds since 1970. */
    public long modifiedMs() {
        return place.modifiedMs();
    }

    /** Identifies the content among all versions of the dataset: two files with the same text have the same bytes. */
    public String identity() {
        return place.chunk().id() + "/" + place.row() + (place.isPayload() ? "" : "/" + version.number());
    }

    /**
     * Reads some bytes.
     *
     * @param offset first byte
     * @param target receives bytes up to its limit, or to the end of the content
     * @return number of bytes; 0 at the end
     * @throws CorruptDataException if the sample is damaged; names chunk, row, key and version
     */
    public synchronized int read(long offset, ByteBuffer target) throws IOException {
        if (isClosed) {
            throw new IOException("the file of sample '" + place.key() + "' is closed");
        }
        int bytes = (int) Math.max(0, Math.min(target.remaining(), length - offset));
        if (bytes == 0) {
            return 0;
        }
        int at = (int) offset;
        ByteBuffer part = target.slice(target.position(), bytes);
        if (!place.isPayload()) {
            part.put(place.head().column(place.field()).bytesAt(place.row()).slice(at, bytes));
        } else {
            version.chunks().note(place);
            readPayload(at, part);
        }
        target.position(target.position() + bytes);
        return bytes;
    }

    private void readPayload(int offset, ByteBuffer target) throws IOException {
        if (target.remaining() == length && content == null) {
            readAll(target);
        } else if (length <= KEPT_BYTES) {
            target.put(content().slice(offset, target.remaining()));
        } else {
            readPart(offset, target);
        }
    }

    private ByteBuffer content() throws IOException {
        ByteBuffer known = content;
        if (known == null) {
            known = ByteBuffer.allocate(length);
            readAll(known.slice());
            content = known;
        }
        return known;
    }

    /** Reads the whole content, and once more if it is damaged. */
    private void readAll(ByteBuffer target) throws IOException {
        Optional<ByteBuffer> known = version.next().take(place.key());
        if (known.isPresent()) {
            target.put(known.get());
            return;
        }
        value.read(target, this::readChunk, () -> version.chunks().forget(place));
    }

    private void readChunk(long position, ByteBuffer target) throws IOException {
        version.chunks().read(place.chunk(), position, target);
    }

    /** Reads a part of a large sample, whose checksum is compared before, without keeping the content. */
    private void readPart(int offset, ByteBuffer target) throws IOException {
        if (!isVerified) {
            verify();
            isVerified = true;
        }
        ChunkBytes bytes = held;
        if (bytes != null) {
            target.put(bytes.bytes().slice(value.position() + offset, target.remaining()));
        } else {
            readChunk((long) value.position() + offset, target);
        }
    }

    private void verify() throws IOException {
        if (!value.isOf(checksum())) {
            letGo();
            version.chunks().forget(place);
            value.require(checksum());
        }
    }

    /** Returns the checksum of the content. A chunk in memory stays there while the file is open. */
    private int checksum() throws IOException {
        if (version.chunks().isInMemory()) {
            ChunkBytes bytes = version.chunks().hold(place);
            held = bytes;
            return Crc32cs.of(bytes.bytes().slice(value.position(), length));
        }
        ByteBuffer buffer = ByteBuffer.allocate(Math.min(length, KEPT_BYTES));
        CRC32C crc = new CRC32C();
        for (int at = 0; at < length; at += buffer.limit()) {
            buffer.clear().limit(Math.min(buffer.capacity(), length - at));
            readChunk((long) value.position() + at, buffer.slice());
            crc.update(buffer.slice());
        }
        return (int) crc.getValue();
    }

    private void letGo() {
        if (held != null) {
            held.close();
            held = null;
        }
    }

    @Override
    public synchronized void close() {
        if (!isClosed) {
            isClosed = true;
            content = null;
            letGo();
            version.release();
        }
    }
}
