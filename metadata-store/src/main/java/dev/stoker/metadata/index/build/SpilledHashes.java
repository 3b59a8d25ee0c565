package dev.stoker.metadata.index.build;

import dev.stoker.schemas.index.HashOrder;
import dev.stoker.schemas.index.HashesInMemory;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Sorts hashes in memory up to a number of pairs. Beyond that, it writes them to 256 files by the first 8 bits of the
 * hash, and sorts one file at a time. Not thread-safe.
 */
final class SpilledHashes implements HashOrder, Closeable {

    private static final int FILES = 256;
    private static final int BUFFER_BYTES = 1 << 15;
    private static final int PAIR_BYTES = 8;

    private final Scratch scratch;
    private final int limit;
    private final HashesInMemory inMemory = new HashesInMemory();
    private final Path[] files = new Path[FILES];
    private DataOutputStream @Nullable [] outputs;

    /** @param limit number of pairs that stay in memory, 8 bytes each */
    SpilledHashes(Scratch scratch, int limit) {
        this.scratch = scratch;
        this.limit = limit;
    }

    @Override
    public void add(int hash, long row) throws IOException {
        if (outputs == null) {
            if (inMemory.size() < limit) {
                inMemory.add(hash, row);
                return;
            }
            outputs = open();
            inMemory.forEach(this::spill);
            inMemory.clear();
        }
        spill(hash, row);
    }

    private DataOutputStream[] open() throws IOException {
        DataOutputStream[] opened = new DataOutputStream[FILES];
        for (int i = 0; i < FILES; i++) {
            files[i] = scratch.newFile();
            opened[i] = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(files[i]), BUFFER_BYTES));
        }
        return opened;
    }

    private void spill(int hash, long row) throws IOException {
        DataOutputStream[] all = outputs;
        if (all == null) {
            throw new IllegalStateException("not open");
        }
        all[hash >>> 24].writeLong(HashesInMemory.pair(hash, row));
    }

    @Override
    public void forEach(Receiver receiver) throws IOException {
        close();
        if (files[0] == null) {
            inMemory.forEach(receiver);
            return;
        }
        for (Path file : files) {
            long pairs = Files.size(file) / PAIR_BYTES;
            inMemory.clear();
            try (DataInputStream in =
                    new DataInputStream(new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES))) {
                for (long i = 0; i < pairs; i++) {
                    long pair = in.readLong();
                    inMemory.add(HashesInMemory.hash(pair), HashesInMemory.row(pair));
                }
            }
            inMemory.forEach(receiver);
        }
    }

    @Override
    public void close() throws IOException {
        if (outputs != null) {
            for (DataOutputStream output : outputs) {
                output.close();
            }
        }
    }
}
