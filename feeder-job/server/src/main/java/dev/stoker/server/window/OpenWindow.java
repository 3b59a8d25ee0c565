package dev.stoker.server.window;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.order.Window;
import dev.stoker.server.chunks.ListedChunk;

/**
 * A window whose heads are in memory and were checked. Immutable; garbage-collected when nobody uses it.
 *
 * <p>Arrays are indexed by place in the window. A head is null when the chunk is damaged and {@code on-corrupt} is
 * {@code skip}, or when none of its rows is live.
 */
final class OpenWindow {
    final Window rows;
    final ChunkHead[] heads;
    final ListedChunk[] files;
    /** Per place and field: chunk-local class id to the version's, or null. */
    final int[][][] classIds;

    OpenWindow(Window rows, ChunkHead[] heads, ListedChunk[] files, int[][][] classIds) {
        this.rows = rows;
        this.heads = heads;
        this.files = files;
        this.classIds = classIds;
    }
}
