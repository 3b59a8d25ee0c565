package dev.stoker.server.lookup;

import dev.stoker.schemas.batch.BatchChunk;
import dev.stoker.schemas.cache.BoundedCache;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ServedStream;
import dev.stoker.server.window.VerifiedHeads;
import java.io.IOException;
import java.util.UUID;

/** The heads of the chunks that lookups used last, within a limit of bytes. Thread-safe. */
final class LookupHeads {
    /** Class ids depend on the version. */
    private record Key(UUID chunk, long version) {}

    private final BoundedCache<Key, LookupChunk> chunks;

    LookupHeads(long limitBytes) {
        this.chunks = new BoundedCache<>(limitBytes, BoundedCache.Large.NOT_KEPT);
    }

    /**
     * Returns a chunk, and reads its head if necessary.
     *
     * @param index index in the chunks of the stream
     * @throws dev.stoker.schemas.errors.CorruptDataException if the head is damaged
     */
    LookupChunk get(ServedStream stream, int index) throws IOException {
        Key key = new Key(stream.chunks().id(index), stream.version());
        return chunks.get(key, LookupChunk.bytes(stream.chunks().headLength(index)), () -> {
            ListedChunk file = stream.file(index);
            var head = VerifiedHeads.readAlone(stream, index, file);
            return new LookupChunk(file, new BatchChunk(head, null, 0, VerifiedHeads.classIds(stream, head)));
        });
    }

    /** Returns the bytes of the heads. */
    long usedBytes() {
        return chunks.usedBytes();
    }
}
