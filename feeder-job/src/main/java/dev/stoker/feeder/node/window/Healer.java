package dev.stoker.feeder.node.window;

import dev.stoker.feeder.node.OnCorrupt;
import dev.stoker.feeder.node.chunks.ChunkFile;
import dev.stoker.feeder.node.chunks.ChunkSource;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what is wrong with samples that a trainer found damaged: reads them again into owned memory and compares
 * their checksums. Rows that stay damaged are remembered. Thread-safe.
 */
public final class Healer {
    private static final Logger LOG = LoggerFactory.getLogger(Healer.class);

    private final OnCorrupt onCorrupt;
    private final Damage damage = new Damage();
    private final LongAdder corrupt;

    /** @param corrupt counts rows that stay damaged */
    public Healer(OnCorrupt onCorrupt, LongAdder corrupt) {
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
    void check(ServedStream stream, int chunk, ChunkFile file, ChunkHead head, int row) throws IOException {
        RangeReader reader = reader(stream.source(), file);
        try {
            dev.stoker.schemas.chunk.ChunkFile.verifySample(head, reader, row);
        } catch (CorruptDataException first) {
            stream.source().forget(file);
            try {
                dev.stoker.schemas.chunk.ChunkFile.verifySample(head, reader, row);
            } catch (CorruptDataException second) {
                lose(chunk, row, second);
            }
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

    private static RangeReader reader(ChunkSource source, ChunkFile file) {
        return new RangeReader() {
            @Override
            public void readFully(long offset, ByteBuffer dst) throws IOException {
                source.read(file, offset, dst);
            }

            @Override
            public long length() {
                return file.length();
            }

            @Override
            public String name() {
                return file.name();
            }
        };
    }
}
