package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import java.util.ArrayList;
import java.util.List;

/** The files of a chunk to be written, in order. For one thread at a time. */
final class PlannedChunk {

    /** Schema, footer and padding of a file, more or less. */
    private static final long FRAME_BYTES = 4096;
    /** Offsets, checksum and class of a row, more or less. */
    private static final long ROW_BYTES = 16;

    private final String split;
    private final List<FileEntry> files = new ArrayList<>();
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

    boolean isEmpty() {
        return files.isEmpty();
    }

    /** The length that the chunk's file will have, more or less. */
    long length() {
        return length;
    }

    long lengthWith(FileEntry file) {
        return length + rowBytes(file);
    }

    void add(FileEntry file) {
        files.add(file);
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
