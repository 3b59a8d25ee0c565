package dev.stoker.server.tiers;

import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.tiers.files.CacheFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A chunk's file that has not appeared yet; the tier may be closed between any two steps. One thread. */
final class FileArrival implements Arrival {
    private static final Logger LOG = LoggerFactory.getLogger(FileArrival.class);

    private final FileTier tier;
    private final ListedChunk chunk;
    private final CacheFiles.Unfinished file;
    private long nanos;

    FileArrival(FileTier tier, ListedChunk chunk) throws IOException {
        this.tier = tier;
        this.chunk = chunk;
        long began = System.nanoTime();
        this.file = tier.create(chunk);
        nanos = System.nanoTime() - began;
    }

    void write(long offset, ByteBuffer part) throws IOException {
        long began = System.nanoTime();
        tier.write(chunk, () -> file.write(offset, part));
        nanos += System.nanoTime() - began;
    }

    @Override
    public void put(long offset, ByteBuffer part) {
        try {
            write(offset, part);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void copyTo(ByteBuffer target) throws IOException {
        file.read(target);
    }

    @Override
    public void keep() throws IOException {
        long began = System.nanoTime();
        tier.write(chunk, file::publish);
        tier.placed(chunk, nanos + System.nanoTime() - began);
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            LOG.debug("A file for {} is left unfinished in {}", chunk, tier, e);
        }
    }
}
