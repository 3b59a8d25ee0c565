package dev.stoker.server.window;

import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.RangeReader;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.feed.OnCorrupt;
import java.io.IOException;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what is wrong with samples that a trainer found damaged: reads them again into owned memory and compares
 * their checksums. Rows that stay damaged are remembered. Thread-safe.
 */
public final class DamageCheck {
    private static final Logger LOG = LoggerFactory.getLogger(DamageCheck.class);

    private final OnCorrupt onCorrupt;
    private final Damage damage = new Damage();
    private final LongAdder corrupt;

    /** @param corrupt counts rows that stay damaged */
    public DamageCheck(OnCorrupt onCorrupt, LongAdder corrupt) {
        this.onCorrupt = onCorrupt;
        this.corrupt = corrupt;
    }

    /** Rows of the stream that are left out. */
    Damage damage() {
        return damage;
    }

    boolean skips() {
        return onCorrupt == OnCorrupt.SKIP;
    }

    /**
     * Reads a sample again.
     *
     * @throws CorruptDataException naming chunk, row and key, if it stays damaged and may not be skipped
     * @throws IOException if the origin fails
     */
    void check(ServedStream stream, int chunk, ListedChunk file, ChunkHead head, int row) throws IOException {
        try {
            verify(stream, file, head, row);
        } catch (CorruptDataException e) {
            lose(chunk, row, e);
        }
    }

    /**
     * Reads a sample and compares its checksums. If they differ, drops the cached copies of the chunk and reads the
     * sample again.
     *
     * @throws CorruptDataException naming chunk, row and key, if the sample stays damaged
     * @throws IOException if the origin fails
     */
    public static void verify(ServedStream stream, ListedChunk file, ChunkHead head, int row) throws IOException {
        RangeReader reader = new WindowReader(stream.source(), file);
        try {
            ChunkReader.verifySample(head, reader, row);
        } catch (CorruptDataException first) {
            stream.source().forget(file);
            ChunkReader.verifySample(head, reader, row);
        }
    }

    /** A row is damaged for good. */
    void lose(int chunk, int row, CorruptDataException why) throws CorruptDataException {
        if (!skips()) {
            corrupt.increment();
            throw why;
        }
        if (!damage.contains(chunk, row)) {
            corrupt.increment();
            damage.add(chunk, row);
            LOG.warn("Skipping a damaged row: {}", why.getMessage());
        }
    }
}
