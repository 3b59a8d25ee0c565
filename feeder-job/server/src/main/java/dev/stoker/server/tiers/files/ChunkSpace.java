package dev.stoker.server.tiers.files;

import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

/** A directory in which a tier keeps chunks as files, and a claim of this process on it. Thread-safe. */
public interface ChunkSpace extends AutoCloseable {
    /**
     * Returns the file of a chunk. It is in a subdirectory of the space, which the writer of the file must create
     * first.
     */
    Path path(UUID id);

    /** Returns the chunks in the space, and their lengths. */
    Map<UUID, Long> list() throws IOException;

    /** Removes unfinished files of processes that died. Call it only while no other process writes to the space. */
    void removeUnfinished() throws IOException;

    /** Returns whether other claims use the space now. */
    boolean isShared() throws IOException;

    /** Waits until no other process loads the chunk, and prevents others from loading it until the lock is closed. */
    FileLock lockLoad(UUID id) throws IOException;

    /** Returns whether its files are in memory, so that writing one is fast enough without a separate thread. */
    boolean isMemory();

    /** Releases the claim, and removes the space if it belonged to this feed alone. */
    @Override
    void close() throws IOException;
}
