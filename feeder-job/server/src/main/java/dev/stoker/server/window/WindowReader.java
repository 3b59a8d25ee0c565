package dev.stoker.server.window;

import dev.stoker.schemas.io.RangeReader;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A file of a dataset, read through the source that serves it.
 *
 * @param source where the file is read
 * @param file the file
 */
record WindowReader(ChunkSource source, ListedChunk file) implements RangeReader {

    @Override
    public void readFully(long offset, ByteBuffer target) throws IOException {
        source.read(file, offset, target);
    }

    @Override
    public long length() {
        return file.length();
    }

    @Override
    public String name() {
        return file.name();
    }
}
