package dev.stoker.mount.tree;

import dev.stoker.metadata.samples.CheckedPayload;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.window.ServedStream;

/**
 * Where the content of a file is.
 *
 * @param key the key of the sample
 * @param stream the split of the sample
 * @param index index of its chunk in the stream
 * @param chunk the file of the chunk
 * @param head the head of the chunk
 * @param field the field that is the content
 * @param row the row in the chunk
 * @param modifiedMs time of the last change
 */
record ContentAddress(
        String key,
        ServedStream stream,
        int index,
        ListedChunk chunk,
        ChunkHead head,
        int field,
        int row,
        long modifiedMs) {

    boolean isPayload() {
        return head.fields().get(field).payload();
    }

    int length() {
        return head.column(field).valueLength(row);
    }

    /** Returns a payload, for its verification. */
    CheckedPayload value() {
        return new CheckedPayload(
                head, field, row, "chunk " + stream.chunks().ordinal(index) + ", version " + stream.version());
    }
}
