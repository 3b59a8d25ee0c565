package dev.stoker.schemas.chunk;

import dev.stoker.schemas.io.RangeReader;
import java.io.IOException;

/** Reads chunks through ranged reads and verifies them. Stateless. */
public final class ChunkFile {
    private ChunkFile() {}

    /** Reads the head into owned memory and checks it against what the log or the chunk table says. */
    public static ChunkHead readHead(RangeReader file, ChunkSummary expected) throws IOException {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Reads the head of a chunk by itself: length and sum stand in its footer. */
    public static ChunkHead open(RangeReader file) throws IOException {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Verifies every byte of the file by what the file itself says. */
    public static ChunkHead verify(RangeReader file) throws IOException {
        throw new UnsupportedOperationException("not there yet");
    }

    /** Checks one sample's payload; the failure names chunk, row and key. */
    public static void verifySample(ChunkHead head, RangeReader file, int row) throws IOException {
        throw new UnsupportedOperationException("not there yet");
    }
}
