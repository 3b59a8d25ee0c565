package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.ingest.pack.sync.StoredRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The files of a planned chunk, in order. For one thread at a time. */
final class PlannedChunk {

    /** The approximate size of schema, footer and padding of a file. */
    private static final long FRAME_BYTES = 4096;
    /** The approximate size of offsets, checksum and class of a row. */
    private static final long ROW_BYTES = 16;

    private final String split;
    private final List<FileEntry> files = new ArrayList<>();
    private final List<@Nullable StoredRow> replaced = new ArrayList<>();
    private long length = FRAME_BYTES;

    PlannedChunk(String split) {
        this.split = split;
    }

    String split() {
        return split;
    }

    List<FileEntry> files() {
        return files;
    }

    /** Returns the sample of the dataset that a file replaces, if any. */
    @Nullable
    StoredRow replaced(int file) {
        return replaced.get(file);
    }

    boolean isEmpty() {
        return files.isEmpty();
    }

    /** The approximate length of the chunk's file. */
    long length() {
        return length;
    }

    long lengthWith(FileEntry file) {
        return length + rowBytes(file);
    }

    /** @param replaces the sample of the dataset that the file replaces, if any */
    void add(FileEntry file, @Nullable StoredRow replaces) {
        files.add(file);
        replaced.add(replaces);
        length += rowBytes(file);
    }

    private static long rowBytes(FileEntry file) {
        long bytes = ROW_BYTES + file.key().length + file.size();
        for (long sidecar : file.sidecars()) {
            bytes += 8 + Math.max(0, sidecar);
        }
        return bytes;
    }
}
