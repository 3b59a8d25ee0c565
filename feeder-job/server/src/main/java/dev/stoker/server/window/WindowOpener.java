package dev.stoker.server.window;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.LaneEpoch;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.Window;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.feed.OnCorrupt;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and checks the heads of a window's chunks, and sorts its rows. Stateless but for counters; any thread. */
final class WindowOpener {
    private static final Logger LOG = LoggerFactory.getLogger(WindowOpener.class);

    /** Bytes of a parsed head and its window's rows beside the head's own bytes, roughly. */
    private static final int CHUNK_OVERHEAD = 1024;

    private static final int ROW_OVERHEAD = 8;

    private final OnCorrupt onCorrupt;
    private final LongAdder corrupt;

    WindowOpener(OnCorrupt onCorrupt, LongAdder corrupt) {
        this.onCorrupt = onCorrupt;
        this.corrupt = corrupt;
    }

    /** Bytes that a chunk's part of a window takes in memory. */
    static long bytes(StreamChunks chunks, int chunk) {
        ChunkOverlay overlay = chunks.overlay(chunk);
        return chunks.headLength(chunk)
                + (overlay == null ? 0 : overlay.length())
                + CHUNK_OVERHEAD
                + (long) ROW_OVERHEAD * chunks.liveRows(chunk);
    }

    /** Bytes that the window will take in memory. */
    static long bytes(Windows.Key key) {
        LaneEpoch lane = key.order().epoch(key.epoch()).lane(key.lane());
        long bytes = 0;
        for (int chunk : lane.windowChunks(key.window())) {
            bytes += bytes(key.order().order().chunks(), chunk);
        }
        return bytes;
    }

    /** Returns whether the window can be opened without a request to a far origin. */
    static boolean isNear(Windows.Key key) {
        GroupOrder order = key.order();
        StreamChunks chunks = order.order().chunks();
        ChunkSource source = order.stream().source();
        for (int chunk : order.epoch(key.epoch()).lane(key.lane()).windowChunks(key.window())) {
            if (chunks.liveRows(chunk) > 0
                    && !order.stream().files(chunk).stream().allMatch(source::isNear)) {
                return false;
            }
        }
        return true;
    }

    OpenWindow open(Windows.Key key) throws IOException {
        GroupOrder order = key.order();
        Window rows = order.epoch(key.epoch()).lane(key.lane()).window(key.window());
        int places = rows.chunks();
        ChunkHead[] heads = new ChunkHead[places];
        ListedChunk[] files = new ListedChunk[places];
        int[][][] classIds = new int[places][][];
        StreamChunks chunks = order.order().chunks();
        ChunkSource source = order.stream().source();
        for (int place = 0; place < places; place++) {
            int chunk = rows.chunk(place);
            if (chunks.liveRows(chunk) > 0) {
                files[place] = order.stream().file(chunk);
                // All together, so that a far origin is waited for once.
                order.stream().files(chunk).forEach(source::use);
            }
        }
        try {
            for (int place = 0; place < places; place++) {
                if (files[place] != null) {
                    heads[place] = head(order.stream(), rows.chunk(place), files[place]);
                }
                if (heads[place] != null) {
                    classIds[place] = VerifiedHeads.classIds(order.stream(), heads[place]);
                }
            }
        } finally {
            for (int place = 0; place < places; place++) {
                if (files[place] != null) {
                    order.stream().files(rows.chunk(place)).forEach(source::unwant);
                }
            }
        }
        return new OpenWindow(rows, heads, files, classIds);
    }

    /** The checked head, or null when it is damaged for good and may be skipped. */
    private @Nullable ChunkHead head(ServedStream stream, int chunk, ListedChunk file) throws IOException {
        try {
            return VerifiedHeads.read(stream, chunk, file);
        } catch (CorruptDataException e) {
            corrupt.increment();
            if (onCorrupt == OnCorrupt.FAIL) {
                throw e;
            }
            LOG.warn("Skipping rows of a damaged chunk: {}", e.getMessage());
            return null;
        }
    }
}
